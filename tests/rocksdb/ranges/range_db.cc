// SPDX-License-Identifier: Apache-2.0
#include "tests/rocksdb/ranges/range_db.h"

#include "integration/rocksdb/ranges/range_extractor.h"
#include "tests/support/key_sets.h"

namespace blocksieve::testing {
namespace {

constexpr uint64_t kMaxFiles = 16;

}  // namespace

RangeFilterCounts CountsSince(const RangeFilterCounts& before) {
  RangeFilterCounts counts = GetRangeFilterCounts();
  for (const auto& [name, field] : rocksdb_plugin::kRangeResults) counts.*field -= before.*field;
  return counts;
}

std::string RangeKey(uint64_t number) {
  // A permutation of 64 bits, so that no two are alike.
  number *= 0x9e3779b97f4a7c15;
  number ^= number >> 32;
  return MakeKey(KeyShape::kCounter, number);
}

DbConfig RangeConfig(FilterShape shape, EnableOptions features) {
  [[maybe_unused]] static const int registered = blocksieve_rocksdb_register();
  DbConfig config = MakeConfig(shape, nullptr);
  rocksdb::Options options = config.ToOptions();
  features.ranges |= features.prefixes.empty();
  features.carrier = Carrier::kFilterAndSidecar;
  MustBeOk(Enable(&options, features));
  config.table.filter_policy =
      options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>()->filter_policy;
  config.options.prefix_extractor = options.prefix_extractor;
  return config;
}

void WriteRangeFile(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, uint64_t file,
                    uint64_t keys) {
  for (uint64_t i = 0; i < keys; ++i) {
    MustBeOk(db->Put({}, family, RangeKey(2 * (kMaxFiles * i + file)), std::string(100, 'v')));
  }
  MustBeOk(db->Flush({}, family));
}

uint64_t DataBlocksRead(const rocksdb::PerfContext& perf) {
  return perf.block_read_count - perf.index_block_read_count - perf.filter_block_read_count +
         perf.block_cache_hit_count - perf.block_cache_index_hit_count -
         perf.block_cache_filter_hit_count;
}

EmptySeeks SeekEmptyRanges(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family,
                           const rocksdb::ReadOptions& read, uint64_t seeks) {
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

rocksdb::ReadOptions RangeRead() {
  rocksdb::ReadOptions read;
  PrepareRangeRead(nullptr, &read);
  return read;
}

}  // namespace blocksieve::testing
