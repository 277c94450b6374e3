#include <dlfcn.h>
#include <rocksdb/filter_policy.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "blocksieve/sizing.h"
#include "integration/rocksdb/compat/loud_log.h"
#include "integration/rocksdb/compat/stock_filters.h"
#include "integration/rocksdb/policy/policy.h"

// For programs that cannot be recompiled and have no OPTIONS file to edit. The dynamic linker lets
// a preloaded object's functions take the place of the library's, so a preloaded plug-in is asked
// for RocksDB's built-in policies. With BLOCKSIEVE_REPLACE_BUILTIN=1 in the environment it gives a
// blocksieve policy of the same FPR, otherwise what RocksDB itself would.
//
// Only in libblocksieve_rocksdb.so.

namespace blocksieve::rocksdb_plugin {
namespace {

bool ReplacesBuiltin() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here writes the environment
  const char* value = std::getenv("BLOCKSIEVE_REPLACE_BUILTIN");
  return value != nullptr && std::string(value) == "1";
}

// The policy in place of a stock one of so many bits per key; null if there is none.
const rocksdb::FilterPolicy* Replacement(double bits_per_key) {
  const double fpr = StockBloomFpr(bits_per_key);
  if (fpr >= 1) return nullptr;  // RocksDB takes fewer than half a bit per key for "no filter"
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
using blocksieve::rocksdb_plugin::ReplacesBuiltin;

[[gnu::visibility("default")]] const FilterPolicy* NewBloomFilterPolicy(double bits_per_key,
                                                                        bool block_based) {
  if (ReplacesBuiltin()) {
    if (const FilterPolicy* policy = Replacement(bits_per_key)) return policy;
  }
  static auto* const stock =
      NextDefinition<const FilterPolicy*(double, bool)>("_ZN7rocksdb20NewBloomFilterPolicyEdb");
  return stock == nullptr ? nullptr : stock(bits_per_key, block_based);
}

[[gnu::visibility("default")]] const FilterPolicy* NewRibbonFilterPolicy(double bits_per_key,
                                                                         int bloom_before_level) {
  if (ReplacesBuiltin()) {
    if (const FilterPolicy* policy = Replacement(bits_per_key)) return policy;
  }
  static auto* const stock =
      NextDefinition<const FilterPolicy*(double, int)>("_ZN7rocksdb21NewRibbonFilterPolicyEdi");
  return stock == nullptr ? nullptr : stock(bits_per_key, bloom_before_level);
}

}  // namespace rocksdb
