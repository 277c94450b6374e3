#include <dlfcn.h>
#include <rocksdb/filter_policy.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/sizing.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/stock_filters.h"
#include "integration/rocksdb/plugin/registry.h"
#include "integration/rocksdb/policy/policy.h"

// What takes effect when the plug-in is loaded. Only libblocksieve_rocksdb.so has this file.
//
// Loading it, by whatever means, registers the policy. It also stands in for RocksDB's own
// policies, for programs that cannot be recompiled and read no OPTIONS file: the dynamic linker
// prefers the functions of a preloaded object to those of a library. With
// BLOCKSIEVE_REPLACE_BUILTIN=1 in the environment, these functions return a blocksieve policy of
// the same FPR; otherwise, what RocksDB itself would.

namespace blocksieve::rocksdb_plugin {
namespace {

[[gnu::constructor]] void RegisterOnLoad() { RegisterUnlessRegistered(); }

bool ReplacesBuiltin() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here writes the environment
  const char* value = std::getenv("BLOCKSIEVE_REPLACE_BUILTIN");
  return value != nullptr && std::string(value) == "1";
}

// The policy in place of a stock one of so many bits per key. Null if RocksDB would build no
// filter, or if it is not to be replaced.
Policy* Replacement(double bits_per_key) {
  if (!ReplacesBuiltin()) return nullptr;
  const double fpr = StockBloomFpr(bits_per_key);
  if (fpr >= 1) return nullptr;
  FilterPolicyOptions options;
  options.target_fpr = std::clamp(fpr, kMinTargetFpr, kMaxTargetFpr);
  return MakePolicy(options).release();
}

// The definition that would be used without the plug-in.
template <class Function>
Function* NextDefinition(const char* mangled_name) {
  void* next = dlsym(RTLD_NEXT, mangled_name);
  if (next == nullptr) LogLoudly(nullptr, std::string("no ") + mangled_name + " in RocksDB");
  return reinterpret_cast<Function*>(next);
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin

namespace rocksdb {

using blocksieve::rocksdb_plugin::NextDefinition;
using blocksieve::rocksdb_plugin::Replacement;

// Whether these return pointers to const depends on RocksDB's version.
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
