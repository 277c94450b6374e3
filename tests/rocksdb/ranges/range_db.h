#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/perf_context.h>

#include <cstdint>
#include <string>

#include "blocksieve/rocksdb.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "tests/support/key_sets.h"
#include "tests/support/test_db.h"

namespace blocksieve::testing {

/// Keys of the whole range. Tests write keys with even numbers only.
inline std::string RangeKey(uint64_t number) {
  // A permutation of 64 bits, so that no two are alike.
  number *= 0x9e3779b97f4a7c15;
  number ^= number >> 32;
  return MakeKey(KeyShape::kCounter, number);
}

/// Options with range filters unless there are prefixes, no automatic compaction, and small blocks.
inline DbConfig RangeConfig(FilterShape shape = FilterShape::kFull, EnableOptions features = {}) {
  [[maybe_unused]] static const int registered = blocksieve_rocksdb_register();
  DbConfig config = MakeConfig(shape, nullptr);
  features.ranges |= features.prefixes.empty();
  features.carrier = Carrier::kFilterAndSidecar;
  UseFeatures(features, &config);
  config.options.listeners.clear();
  return config;
}

/// Writes a file of `keys` keys that interleave with those of other files.
inline void WriteRangeFile(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, uint64_t file,
                           uint64_t keys = 2000) {
  constexpr uint64_t kMaxFiles = 16;
  for (uint64_t i = 0; i < keys; ++i) {
    MustBeOk(db->Put({}, family, RangeKey(2 * (kMaxFiles * i + file)), std::string(100, 'v')));
  }
  MustBeOk(db->Flush({}, family));
}

inline void WriteRangeFile(TestDb* db, uint64_t file, uint64_t keys = 2000) {
  WriteRangeFile(&db->db(), (*db)->DefaultColumnFamily(), file, keys);
}

/// The counts since `before`.
inline RangeFilterCounts CountsSince(const RangeFilterCounts& before) {
  RangeFilterCounts counts = GetRangeFilterCounts();
  for (const auto& [name, field] : rocksdb_plugin::kRangeResults) counts.*field -= before.*field;
  return counts;
}

/// Data blocks that were read, from disk or from the cache.
inline uint64_t DataBlocksRead(const rocksdb::PerfContext& perf) {
  return perf.block_read_count - perf.index_block_read_count - perf.filter_block_read_count +
         perf.block_cache_hit_count - perf.block_cache_index_hit_count -
         perf.block_cache_filter_hit_count;
}

/// Result of seeks from absent keys, each with a bound right after it.
struct EmptySeeks {
  uint64_t seeks = 0;
  uint64_t found = 0;   // rows found, expected 0
  uint64_t blocks = 0;  // data blocks read
  RangeFilterCounts counts;
};
inline EmptySeeks SeekEmptyRanges(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                                  const rocksdb::ReadOptions& read, uint64_t seeks = 1000) {
  EmptySeeks result;
  const RangeFilterCounts before = GetRangeFilterCounts();
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
  for (uint64_t i = 0; i < seeks; ++i) {
    const std::string begin = RangeKey(2 * i + 1);
    const std::string end = begin + '\0';
    const rocksdb::Slice bound(end);
    rocksdb::ReadOptions bounded = read;
    bounded.iterate_upper_bound = &bound;
    const std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator(bounded, family));
    perf.Reset();
    iterator->Seek(begin);
    result.blocks += DataBlocksRead(perf);
    result.found += iterator->Valid() ? 1 : 0;
    MustBeOk(iterator->status());
  }
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  result.seeks = seeks;
  result.counts = CountsSince(before);
  return result;
}

inline EmptySeeks SeekEmptyRanges(TestDb* db, const rocksdb::ReadOptions& read,
                                  uint64_t seeks = 1000) {
  return SeekEmptyRanges(&db->db(), (*db)->DefaultColumnFamily(), read, seeks);
}

/// The read options of PrepareRangeRead.
inline rocksdb::ReadOptions RangeRead() {
  rocksdb::ReadOptions read;
  PrepareRangeRead(nullptr, &read);
  return read;
}

}  // namespace blocksieve::testing
