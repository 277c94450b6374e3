#include "bench/ranges/contestants.h"

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <algorithm>

#include "bench/support/terminal.h"
#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/rocksdb/range_filter.h"

namespace blocksieve::bench::ranges {
namespace {

constexpr double kStockBits = 10;  // what RocksDB's documentation recommends

// The smaller kind for flushed files as well.
constexpr PolicyKind kKind = PolicyKind::kRibbon;

void Check(const rocksdb::Status& status) {
  if (!status.ok()) Fail("{}", status.ToString());
}

std::string_view Prefix(std::string_view key, size_t bytes) { return key.substr(0, bytes); }

}  // namespace

const char* RoleName(Role role) {
  switch (role) {
    case Role::kNoFilter:
      return "no filter";
    case Role::kPrefixBloom:
      return "stock prefix Bloom";
    case Role::kPrefixBloomPartitioned:
      return "stock prefix Bloom, partitioned";
    case Role::kFirstKey:
      return "index with first key";
    case Role::kPoints:
      return "blocksieve, points";
    case Role::kPointsPartitioned:
      return "blocksieve, points, partitioned";
    case Role::kRanges:
      return "blocksieve, ranges";
    case Role::kRangesPartitioned:
      return "blocksieve, ranges, partitioned";
  }
  return "";
}

std::shared_ptr<const rocksdb::SliceTransform> PrefixExtractor(size_t bytes, size_t shortest_key) {
  return std::shared_ptr<const rocksdb::SliceTransform>(
      bytes <= shortest_key ? rocksdb::NewFixedPrefixTransform(bytes)
                            : rocksdb::NewCappedPrefixTransform(bytes));
}

void SetUp(Role role, const std::shared_ptr<const rocksdb::SliceTransform>& extractor,
           rocksdb::BlockBasedTableOptions table, rocksdb::Options* options) {
  if (IsPartitioned(role)) {
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
  }
  switch (role) {
    case Role::kNoFilter:
      break;
    case Role::kPrefixBloom:
    case Role::kPrefixBloomPartitioned:
      table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kStockBits));
      options->prefix_extractor = extractor;
      break;
    case Role::kFirstKey:
      table.index_type = rocksdb::BlockBasedTableOptions::kBinarySearchWithFirstKey;
      break;
    case Role::kPoints:
    case Role::kPointsPartitioned: {
      rocksdb::Status status;
      table.filter_policy = NewFilterPolicy({.kind = kKind}, &status);
      Check(status);
      break;
    }
    case Role::kRanges:
    case Role::kRangesPartitioned:
      options->table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
      Check(EnableRangeFilter(options, {.policy = {.kind = kKind}}));
      return;
  }
  options->table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
}

rocksdb::ReadOptions SeekOptions(Role role, const rocksdb::Slice* end) {
  rocksdb::ReadOptions read;
  if (role == Role::kRanges || role == Role::kRangesPartitioned) {
    PrepareRangeRead(end, &read);
  } else {
    read.iterate_upper_bound = end;
    read.auto_prefix_mode = role == Role::kPrefixBloom || role == Role::kPrefixBloomPartitioned;
  }
  return read;
}

double BlocksWithPrefixes(std::span<const std::vector<std::string>> runs,
                          const std::vector<Range>& ranges, size_t bytes) {
  uint64_t blocks = 0;
  for (const Range& range : ranges) {
    const std::string_view prefix = Prefix(range.begin, bytes);
    if (prefix != Prefix(range.end, bytes)) {
      blocks += runs.size();  // RocksDB does not ask
      continue;
    }
    for (const std::vector<std::string>& run : runs) {
      const auto first = std::lower_bound(run.begin(), run.end(), prefix);
      blocks += first != run.end() && first->starts_with(prefix);
    }
  }
  return static_cast<double>(blocks) / static_cast<double>(ranges.size());
}

}  // namespace blocksieve::bench::ranges
