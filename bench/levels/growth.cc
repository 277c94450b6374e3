// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <rocksdb/cache.h>

#include <algorithm>
#include <memory>
#include <string>

#include "bench/levels/tree.h"
#include "bench/read_amp/contestants.h"
#include "bench/support/job.h"
#include "integration/rocksdb/compat/version_differences.h"

namespace blocksieve::bench::levels {
namespace {

// Filters of 10 bits per key fill the memory when the database has half of its keys.
constexpr double kMemoryBits = 5;
constexpr int kDoublings = 4;

struct Filters {
  const char* name;
  std::string policy;
  bool in_cache = false;  // filters share the block cache with data; else they are outside
};

}  // namespace

void MeasureGrowth(int flushes, uint64_t keys_per_flush, uint64_t lookups, Job& job) {
  const double keys = static_cast<double>(flushes) * static_cast<double>(keys_per_flush);
  const auto memory = static_cast<uint64_t>(keys * kMemoryBits / 8);
  const Filters contestants[] = {
      {"stock Bloom, 10 bits, in the block cache", "bloomfilter:10:false", true},
      {"stock Ribbon, 10 bits, outside", "ribbonfilter:10:-1"},
      {"blocksieve, 10 bits by level", "{id=blocksieve;bits_per_key=10}"},
      {"blocksieve, filter_memory", fmt::format("{{id=blocksieve;filter_memory={}}}", memory)},
  };
  Table& table = job.results.In(
      "Growth in a memory that does not grow", "Filters",
      fmt::format("Blocks read per lookup of an absent key, of data and filters. A block cache and "
                  "all filters together have {} bytes, filters outside of the cache as much as "
                  "they take.",
                  memory));
  for (const Filters& filters : contestants) {
    const TempDir dir(job.db_dir);
    job.progress.Show(fmt::format("growth: {}", filters.name));
    const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(memory, 0);
    Tree tree({10, true, keys_per_flush}, read_amp::PolicyFromString(filters.policy), dir.path(),
              [&](rocksdb::Options& options) {
                TableOptions(options).block_cache = cache;
                TableOptions(options).cache_index_and_filter_blocks = filters.in_cache;
              });
    int flushed = 0;
    for (int left = kDoublings; left >= 0; --left) {
      const int until = flushes >> left;
      tree.Flushes(until - flushed);
      flushed = until;
      const TreeShape shape = tree.Shape();
      cache->SetCapacity(filters.in_cache ? memory + shape.index_bytes
                                          : memory - std::min(memory, shape.filter_bytes));
      tree.Measure(lookups / 4);  // fills the cache
      const std::string column = fmt::format("{} k keys", until * keys_per_flush / 1000);
      table[filters.name].Add(column, "", tree.Measure(lookups).blocks_read);
      table[fmt::format("{}: size of filters", filters.name)].Add(column, "bytes",
                                                                  shape.filter_bytes);
    }
  }
}

}  // namespace blocksieve::bench::levels
