#include "bench/ranges/range_database.h"

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "bench/ranges/segment_bounds.h"
#include "bench/ranges/structured_keys.h"
#include "bench/support/terminal.h"
#include "blocksieve/rocksdb.h"
#include "blocksieve/rocksdb/filter_policy.h"

namespace blocksieve::bench::ranges {
namespace {

constexpr double kStockBits = 10;  // what RocksDB's documentation recommends

// The smaller kind, for flushed files as well.
constexpr PolicyKind kKind = PolicyKind::kRibbon;

constexpr const char* kNames[] = {
    "no filter",
    "stock prefix Bloom",
    "index with first key",
    "blocksieve, points",
    "blocksieve, ranges",
    "blocksieve, points, partitioned",
    "stock prefix Bloom, partitioned",
    "blocksieve, ranges, partitioned",
    "blocksieve, prefixes",
    "blocksieve, prefixes and ranges",
    "stock segment bounds",
};

bool IsPrefixBloom(Role role) {
  return role == Role::kPrefixBloom || role == Role::kPrefixBloomPartitioned;
}

constexpr std::string_view kValue = "a value of thirty-two bytes long";

// Logged by the policy for a file without a range filter, filter_bits_builder.cc.
constexpr std::string_view kRefusal = "no range filter written";

// Counts lines with kRefusal.
class Log final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;

  void Logv(const char* format, va_list arguments) override {
    char line[512];
    std::vsnprintf(line, sizeof line, format, arguments);
    refusals_ += std::string_view(line).find(kRefusal) != std::string_view::npos;
  }

  uint64_t refusals() const { return refusals_; }

 private:
  std::atomic<uint64_t> refusals_ = 0;
};

void CheckOk(const rocksdb::Status& status) {
  if (!status.ok()) Fail("{}", status.ToString());
}

// An application's extractor of prefixes that end at one boundary.
class BoundaryExtractor final : public rocksdb::SliceTransform {
 public:
  explicit BoundaryExtractor(Prefixes prefixes) : prefixes_(std::move(prefixes)) {}

  const char* Name() const override { return "benchmark.boundary"; }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    return {key.data(), End(key)};
  }
  bool InDomain(const rocksdb::Slice& key) const override { return End(key) != 0; }

 private:
  size_t End(const rocksdb::Slice& key) const {
    const std::vector<size_t> ends = BoundariesOf(prefixes_.option, key.ToStringView());
    return ends.size() < prefixes_.depth ? 0 : ends[prefixes_.depth - 1];
  }

  const Prefixes prefixes_;
};

void SetUp(Role role, const Prefixes& prefixes, rocksdb::Options& options) {
  rocksdb::BlockBasedTableOptions& table = TableOptions(options);
  options.target_file_size_base = uint64_t{1} << 30;  // a run is a file, a compacted one too
  if (IsPartitioned(role)) {
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
  }
  if (IsPrefixBloom(role)) {
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kStockBits));
    if (prefixes.depth == 0) {
      options.prefix_extractor.reset(rocksdb::NewCappedPrefixTransform(prefixes.bytes));
    } else {
      options.prefix_extractor = std::make_shared<BoundaryExtractor>(prefixes);
    }
  } else if (role == Role::kSegmentBounds) {
    options.table_properties_collector_factories.push_back(NewSegmentBounds(prefixes.option));
  } else if (role == Role::kFirstKey) {
    table.index_type = rocksdb::BlockBasedTableOptions::kBinarySearchWithFirstKey;
  } else if (HasRanges(role)) {
    const bool has_prefixes = role >= Role::kPrefixes;
    CheckOk(EnableFilter(&options, {.kind = kKind,
                                    .ranges = role != Role::kPrefixes,
                                    .prefixes = has_prefixes ? prefixes.option : ""}));
  } else if (role != Role::kNoFilter) {
    table.filter_policy = *NewFilterPolicy({.kind = kKind});
  }
}

}  // namespace

const char* RoleName(Role role) { return kNames[static_cast<size_t>(role)]; }

RangeDatabase::RangeDatabase(Role role, Prefixes prefixes, std::filesystem::path path)
    : Database({RoleName(role),
                [role, prefixes](rocksdb::Options& options) {
                  options.info_log = std::make_shared<Log>();
                  SetUp(role, prefixes, options);
                }},
               /*num_bytes=*/0, std::move(path)),
      role_(role),
      prefixes_(std::move(prefixes)) {}

uint64_t RangeDatabase::refusals() const {
  return static_cast<const Log&>(*options().info_log).refusals();
}

std::vector<double> RangeDatabase::Fill(std::span<const SortedKeys> runs, size_t num_compacted) {
  Open(Reads::kCached);
  std::vector<double> seconds;
  for (const SortedKeys& run : runs) {
    CheckInterrupt();
    const Stopwatch stopwatch;
    for (const std::string& key : run) Put(key);
    Check(db().Flush({}), "flush");
    if (seconds.size() < num_compacted) {
      rocksdb::CompactRangeOptions options;
      options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
      // Other compacted runs have none of its keys, and stay.
      const rocksdb::Slice first = run.front(), last = run.back();
      Check(db().CompactRange(options, &first, &last), "compact");
    }
    seconds.push_back(stopwatch.CpuSeconds());
  }
  const TreeShape shape = Shape();
  const bool has_flushed = !shape.levels.empty() && shape.levels.front().level == 0;
  const size_t num_flushed = has_flushed ? shape.levels.front().num_files : 0;
  if (shape.num_files != runs.size() || num_flushed + num_compacted != runs.size()) {
    Fail("{}: {} files for {} runs", name(), shape.num_files, runs.size());
  }
  const std::unique_ptr<rocksdb::Iterator> iterator(db().NewIterator({}));
  iterator->SeekToFirst();
  while (iterator->Valid()) iterator->Next();
  Check(iterator->status(), "read");
  return seconds;
}

// Options of a seek with the upper bound `*end`, which must outlive it.
rocksdb::ReadOptions RangeDatabase::SeekOptions(const Range& range,
                                                const rocksdb::Slice* end) const {
  rocksdb::ReadOptions read;
  read.iterate_upper_bound = end;
  if (HasRanges(role_)) {
    PrepareRangeRead(end, &read);
  } else if (role_ == Role::kSegmentBounds) {
    SkipFiles(*options().table_properties_collector_factories.back(), range, &read);
  } else if (IsPrefixBloom(role_) && prefixes_.depth == 0) {
    read.auto_prefix_mode = true;
  } else if (IsPrefixBloom(role_)) {
    // What an application that knows its keys would set.
    read.prefix_same_as_start = DepthOf(prefixes_.option, range) >= prefixes_.depth;
    read.total_order_seek = !read.prefix_same_as_start;
  }
  return read;
}

uint64_t RangeDatabase::Scan(const Range& range) {
  const rocksdb::Slice end(range.end);
  const std::unique_ptr<rocksdb::Iterator> iterator(db().NewIterator(SeekOptions(range, &end)));
  uint64_t keys = 0;
  for (iterator->Seek(range.begin); iterator->Valid(); iterator->Next()) ++keys;
  Check(iterator->status(), "scan");
  return keys;
}

void RangeDatabase::Put(const std::string& key) {
  rocksdb::WriteOptions write;
  write.disableWAL = true;  // the log has nothing to do with filters
  Check(db().Put(write, key, {kValue.data(), kValue.size()}), "write to");
}

double RangeDatabase::TimeScans(std::span<const Range> ranges, uint64_t keys_in_each) {
  CheckInterrupt();
  const Stopwatch stopwatch;
  for (const Range& range : ranges) {
    const uint64_t found = Scan(range);
    if (found != keys_in_each) {
      Fail("{}: a range of {} keys has {}", name(), keys_in_each, found);
    }
  }
  return Seconds(stopwatch) / static_cast<double>(ranges.size());
}

double RangeDatabase::CountBlocks(std::span<const Range> ranges, uint64_t keys_in_each) {
  const CounterWindow window(statistics());
  TimeScans(ranges, keys_in_each);
  return static_cast<double>(window.Stop().data_blocks()) / static_cast<double>(ranges.size());
}

double RangeDatabase::TimeGets(std::span<const std::string> keys, bool are_present) {
  CheckInterrupt();
  const Stopwatch stopwatch;
  const auto expected = are_present ? std::optional(kValue) : std::nullopt;
  for (const std::string& key : keys) CheckGet(key, expected);
  return Seconds(stopwatch) / static_cast<double>(keys.size());
}

}  // namespace blocksieve::bench::ranges
