#include "bench/ranges/contestants.h"

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "bench/support/database.h"
#include "bench/support/terminal.h"
#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/rocksdb/range_filter.h"

namespace blocksieve::bench::ranges {
namespace {

constexpr double kStockBits = 10;  // what RocksDB's documentation recommends

// The smaller kind for flushed files as well.
constexpr PolicyKind kKind = PolicyKind::kRibbon;

constexpr const char* kNames[kNumRoles] = {
    "no filter",
    "stock prefix Bloom",
    "index with first key",
    "blocksieve, points",
    "blocksieve, ranges",
    "blocksieve, points, partitioned",
    "stock prefix Bloom, partitioned",
    "blocksieve, ranges, partitioned",
};

bool IsPrefixBloom(Role role) {
  return role == Role::kPrefixBloom || role == Role::kPrefixBloomPartitioned;
}

void Check(const rocksdb::Status& status) {
  if (!status.ok()) Fail("{}", status.ToString());
}

}  // namespace

const char* RoleName(Role role) { return kNames[static_cast<size_t>(role)]; }

void SetUp(Role role, size_t prefix_bytes, rocksdb::Options& options) {
  rocksdb::BlockBasedTableOptions& table = TableOptions(options);
  if (IsPartitioned(role)) {
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
  }
  if (IsPrefixBloom(role)) {
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kStockBits));
    options.prefix_extractor.reset(rocksdb::NewCappedPrefixTransform(prefix_bytes));
  } else if (role == Role::kFirstKey) {
    table.index_type = rocksdb::BlockBasedTableOptions::kBinarySearchWithFirstKey;
  } else if (HasRanges(role)) {
    Check(EnableRangeFilter(&options, {.policy = {.kind = kKind}}));
  } else if (role != Role::kNoFilter) {
    rocksdb::Status status;
    table.filter_policy = NewFilterPolicy({.kind = kKind}, &status);
    Check(status);
  }
}

rocksdb::ReadOptions SeekOptions(Role role, const rocksdb::Slice* end) {
  rocksdb::ReadOptions read;
  if (HasRanges(role)) {
    PrepareRangeRead(end, &read);
  } else {
    read.iterate_upper_bound = end;
    read.auto_prefix_mode = IsPrefixBloom(role);
  }
  return read;
}

double BlocksWithPrefixes(std::span<const SortedKeys> runs, std::span<const Range> ranges,
                          size_t bytes) {
  uint64_t blocks = 0;
  for (const Range& range : ranges) {
    const std::string_view prefix = std::string_view(range.begin).substr(0, bytes);
    if (prefix != std::string_view(range.end).substr(0, bytes)) {
      blocks += runs.size();  // RocksDB does not check the filter
      continue;
    }
    for (const SortedKeys& run : runs) {
      const auto first = std::lower_bound(run.begin(), run.end(), prefix);
      blocks += first != run.end() && first->starts_with(prefix);
    }
  }
  return static_cast<double>(blocks) / static_cast<double>(ranges.size());
}

}  // namespace blocksieve::bench::ranges
