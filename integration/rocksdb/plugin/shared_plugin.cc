// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <rocksdb/filter_policy.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include "blocksieve/rocksdb/enable.h"
#include "blocksieve/sizing.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/stock_filters.h"
#include "integration/rocksdb/plugin/registry.h"
#include "integration/rocksdb/policy/policy.h"

// Takes effect when the plug-in is loaded. Only libblocksieve_rocksdb.so has this file.
//
// Loading registers the policy. The functions below also replace RocksDB's own policies, for
// programs that cannot be recompiled and read no OPTIONS file: the dynamic linker prefers the
// functions of a preloaded object to those of a library. With BLOCKSIEVE_REPLACE_BUILTIN=1 in the
// environment they return a blocksieve policy of the same FPR, otherwise RocksDB's policy.

namespace blocksieve::rocksdb_plugin {
namespace {

[[gnu::constructor]] void RegisterOnLoad() { RegisterUnlessRegistered(); }

bool ReplacesBuiltin() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here writes the environment
  const char* const value = std::getenv("BLOCKSIEVE_REPLACE_BUILTIN");
  const std::string_view text = value == nullptr ? "" : value;
  if (text == "1") return true;
  static std::once_flag reported;
  if (!text.empty() && text != "0") {
    std::call_once(reported, [&] {
      LogLoudly(nullptr,
                "RocksDB's filter policies are not replaced: BLOCKSIEVE_REPLACE_BUILTIN is ",
                std::string(text) + "; allowed: 0, 1");
    });
  }
  return false;
}

// The policy that replaces a stock one with this many bits per key. Null if stock policies are not
// replaced, or if RocksDB would build no filter.
Policy* Replacement(double bits_per_key) {
  if (IsMakingStockPolicy() || !ReplacesBuiltin()) return nullptr;
  const double fpr = StockBloomFpr(bits_per_key);
  if (fpr >= 1) return nullptr;
  EnableOptions options;
  options.target_fpr = std::clamp(fpr, kMinTargetFpr, kMaxTargetFpr);
  return MakePolicy(options).release();
}

// The definition that the program would use without the plug-in.
template <class Function>
Function* NextDefinition(const char* mangled_name) {
  void* next = dlsym(RTLD_NEXT, mangled_name);
  if (next == nullptr)
    LogLoudly(nullptr, std::string("no filters: RocksDB has no function ") + mangled_name);
  return reinterpret_cast<Function*>(next);
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin

namespace rocksdb {

using blocksieve::rocksdb_plugin::NextDefinition;
using blocksieve::rocksdb_plugin::Replacement;

// In some versions of RocksDB, these return pointers to const.
using BloomPolicy = decltype(NewBloomFilterPolicy(0));
using RibbonPolicy = decltype(NewRibbonFilterPolicy(0));

[[gnu::visibility("default")]] BloomPolicy NewBloomFilterPolicy(double bits_per_key,
                                                                bool block_based) {
  if (BloomPolicy policy = Replacement(bits_per_key)) return policy;
  static auto* const stock =
      NextDefinition<BloomPolicy(double, bool)>("_ZN7rocksdb20NewBloomFilterPolicyEdb");
  return stock == nullptr ? nullptr : stock(bits_per_key, block_based);
}

[[gnu::visibility("default")]] RibbonPolicy NewRibbonFilterPolicy(double bits_per_key,
                                                                  int bloom_before_level) {
  if (RibbonPolicy policy = Replacement(bits_per_key)) return policy;
  static auto* const stock =
      NextDefinition<RibbonPolicy(double, int)>("_ZN7rocksdb21NewRibbonFilterPolicyEdi");
  return stock == nullptr ? nullptr : stock(bits_per_key, bloom_before_level);
}

}  // namespace rocksdb
