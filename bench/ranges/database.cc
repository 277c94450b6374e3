// SPDX-License-Identifier: Apache-2.0
#include "bench/ranges/database.h"

#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table_properties.h>
#if ROCKSDB_MAJOR >= 9
#include <rocksdb/experimental.h>
#endif
#if __has_include(<rocksdb/multi_scan.h>)
#include <rocksdb/multi_scan.h>
#endif

#include <algorithm>

#include "bench/support/terminal.h"
#include "blocksieve/rocksdb/enable.h"
#include "integration/rocksdb/compat/version_differences.h"

namespace blocksieve::bench::ranges {
namespace {

constexpr double kStockBits = 10;  // what RocksDB's documentation recommends

// The smaller kind, for flushed files as well.
constexpr FilterKind kKind = FilterKind::kRibbon;

constexpr const char* kNames[] = {
    "no filter",          "stock prefix Bloom", "index with first key", "stock segment bounds",
    "blocksieve, points", "blocksieve, ranges", "blocksieve, prefixes", "prefixes and ranges",
    "block index",
};

constexpr std::string_view kValue = "a value of thirty-two bytes long";

// An application's extractor of the prefixes of a rule.
class RuleExtractor final : public rocksdb::SliceTransform {
 public:
  explicit RuleExtractor(PrefixRule rule) : rule_(std::move(rule)) {}

  const char* Name() const override { return "benchmark.rule"; }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    return {key.data(), rule_.Of(key.ToStringView()).size()};
  }
  bool InDomain(const rocksdb::Slice& key) const override {
    return !rule_.Of(key.ToStringView()).empty();
  }

 private:
  const PrefixRule rule_;
};

// Whether RocksDB has SstQueryFilterConfigs, which keep the lowest and the highest value of each
// segment of the keys of a file.
constexpr bool kHasSegmentBounds = ROCKSDB_MAJOR >= 9;

#if ROCKSDB_MAJOR >= 9

using rocksdb::experimental::KeySegmentsExtractor;
using rocksdb::experimental::SstQueryFilterConfigsManager;

constexpr uint16_t kMaxSegments = 8;

class Segments final : public KeySegmentsExtractor {
 public:
  explicit Segments(const std::string& prefixes) : prefixes_(prefixes) {}

  const char* Name() const override { return "benchmark.segments"; }
  void Extract(const rocksdb::Slice& key, KeyKind, Result* result) const override {
    const std::vector<size_t> ends = BoundariesOf(prefixes_, key.ToStringView());
    result->segment_ends.assign(ends.begin(), ends.end());
    // The upper bound of the range below a prefix ends within what would be its last segment.
    result->segment_ends.push_back(static_cast<uint32_t>(key.size()));
  }

 private:
  const std::string prefixes_;
};

// Writes them into files. Segments end at the boundaries of the option `prefixes`, and the last one
// at the end of the key.
std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> NewSegmentBounds(
    const std::string& prefixes) {
  rocksdb::experimental::SstQueryFilterConfigs configs;
  configs.extractor = std::make_shared<Segments>(prefixes);
  for (uint16_t i = 0; i < kMaxSegments; ++i) {
    configs.filters.push_back(rocksdb::experimental::MakeSharedBytewiseMinMaxSQFC(
        rocksdb::experimental::SelectKeySegment(i)));
  }
  std::shared_ptr<SstQueryFilterConfigsManager> manager;
  std::shared_ptr<SstQueryFilterConfigsManager::Factory> factory;
  CheckOk(SstQueryFilterConfigsManager::MakeShared({{1, {{"segments", configs}}}}, &manager),
          "SstQueryFilterConfigsManager");
  CheckOk(manager->MakeSharedFactory("segments", 1, &factory), "SstQueryFilterConfigs");
  return factory;
}

// Makes seeks of `range` skip the files that `bounds`, of NewSegmentBounds, rule out.
void SkipFiles(const rocksdb::TablePropertiesCollectorFactory& bounds, const Range& range,
               rocksdb::ReadOptions* read) {
  thread_local rocksdb_plugin::TableFilter filter;  // of this thread's next seek
  filter =
      static_cast<const SstQueryFilterConfigsManager::Factory&>(bounds).GetTableFilterForRangeQuery(
          range.begin, range.end);
  rocksdb_plugin::SetTableFilter(filter, read);
}

#else

std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> NewSegmentBounds(const std::string&) {
  Fail("this RocksDB has no SstQueryFilterConfigs");
}

void SkipFiles(const rocksdb::TablePropertiesCollectorFactory&, const Range&,
               rocksdb::ReadOptions*) {}

#endif

void SetUp(Role role, const PrefixRule& rule, rocksdb::Options& options) {
  rocksdb::BlockBasedTableOptions& table = TableOptions(options);
  options.target_file_size_base = uint64_t{1} << 30;  // a run is a file, a compacted one too
  if (role == Role::kPrefixBloom) {
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kStockBits));
    options.prefix_extractor = std::make_shared<RuleExtractor>(rule);
  } else if (role == Role::kSegmentBounds) {
    options.table_properties_collector_factories.push_back(NewSegmentBounds(rule.prefixes));
  } else if (role == Role::kFirstKey) {
    table.index_type = rocksdb::BlockBasedTableOptions::kBinarySearchWithFirstKey;
  } else if (role == Role::kBlockIndex) {
    CheckOk(Enable(&options, {.kind = kKind,
                              .ranges = rule.prefixes.empty(),
                              .prefixes = rule.prefixes,
                              .carrier = Carrier::kBlockIndex}),
            RoleName(role));
  } else if (HasRanges(role)) {
    CheckOk(Enable(&options, {.kind = kKind,
                              .ranges = role != Role::kPrefixes,
                              .prefixes = role == Role::kRanges ? "" : rule.prefixes,
                              .carrier = Carrier::kFilterAndSidecar}),
            RoleName(role));
  } else if (role == Role::kPoints) {
    CheckOk(NewFilterPolicy({.kind = kKind}, &table.filter_policy), RoleName(role));
  }
}

}  // namespace

const char* RoleName(Role role) { return kNames[static_cast<size_t>(role)]; }

std::vector<Role> RolesFor(const Dataset& dataset) {
  std::vector<Role> roles = {Role::kNoFilter, Role::kPrefixBloom, Role::kFirstKey, Role::kPoints,
                             Role::kRanges};
  if (!dataset.prefixes.empty()) {
    if (kHasSegmentBounds) roles.insert(roles.begin() + 3, Role::kSegmentBounds);
    roles.insert(roles.end(), {Role::kPrefixes, Role::kPrefixesAndRanges});
  }
  if (kHasBlockIndexes) roles.push_back(Role::kBlockIndex);
  return roles;
}

RangeDatabase::RangeDatabase(Role role, PrefixRule rule, std::filesystem::path path)
    : Database({RoleName(role), [=](rocksdb::Options& options) { SetUp(role, rule, options); }},
               /*num_bytes=*/0, std::move(path)),
      role_(role),
      rule_(std::move(rule)) {}

double RangeDatabase::Fill(const Dataset& dataset) {
  Open(Reads::kCached);
  const Stopwatch stopwatch;
  for (const SortedKeys& run : dataset.runs) {
    CheckInterrupt();
    for (const std::string& key : run) Put(key);
    Check(db().Flush({}), "flush");
    if (static_cast<size_t>(&run - dataset.runs.data()) >= dataset.num_compacted) continue;
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    // Other compacted runs have none of its keys, and stay.
    const rocksdb::Slice first = run.front(), last = run.back();
    Check(db().CompactRange(options, &first, &last), "compact");
  }
  const double seconds = stopwatch.CpuSeconds();
  const TreeShape shape = Shape();
  const bool has_flushed = !shape.levels.empty() && shape.levels.front().level == 0;
  const size_t num_flushed = has_flushed ? shape.levels.front().num_files : 0;
  if (shape.num_files != dataset.runs.size() ||
      num_flushed + dataset.num_compacted != shape.num_files) {
    Fail("{}: {} files for {} runs", name(), shape.num_files, dataset.runs.size());
  }
  Close();
  opening_bytes_ = PeakBytesOf([&] { Open(Reads::kCached); });
  const std::unique_ptr<rocksdb::Iterator> iterator(db().NewIterator({}));
  iterator->SeekToFirst();
  while (iterator->Valid()) iterator->Next();
  Check(iterator->status(), "read");
  return seconds;
}

// Options of a seek with the upper bound `*end`, which must outlive it.
rocksdb::ReadOptions RangeDatabase::SeekOptions(const Range& range, const rocksdb::Slice* end) {
  rocksdb::ReadOptions read;
  if (role_ == Role::kBlockIndex) {
    if (by_index_ == nullptr) {
      Check(PruneReads(&db(), nullptr, "", {}, &by_index_), "choose the index of");
    }
    read = by_index_->read_options();
  }
  read.iterate_upper_bound = end;
  if (role_ != Role::kBlockIndex && HasRanges(role_)) {
    PrepareRangeRead(end, &read);
  } else if (role_ == Role::kSegmentBounds) {
    SkipFiles(*options().table_properties_collector_factories.back(), range, &read);
  } else if (role_ == Role::kPrefixBloom) {
    // What an application that knows its keys would set.
    read.prefix_same_as_start = rule_.Covers(range);
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

uint64_t RangeDatabase::FileBytes() {
  uint64_t bytes = 0;
  db().GetIntProperty(rocksdb::DB::Properties::kTotalSstFilesSize, &bytes);
  return bytes;
}

double RangeDatabase::TimeSeeks(const Seeks& seeks) {
  CheckInterrupt();
  const Stopwatch stopwatch;
  for (const Range& range : seeks.ranges) {
    const uint64_t found = Scan(range);
    if (found != seeks.keys_in_each) {
      Fail("{}: a range of {} keys has {}", name(), seeks.keys_in_each, found);
    }
  }
  return Seconds(stopwatch) / static_cast<double>(seeks.ranges.size());
}

double RangeDatabase::CountBlocks(const Seeks& seeks) {
  const CounterWindow window(statistics());
  TimeSeeks(seeks);
  return Ratio(window.Stop().data_blocks(), seeks.ranges.size());
}

double RangeDatabase::CountMultiScanBlocks([[maybe_unused]] const Seeks& seeks) {
#if ROCKSDB_MAJOR > 11 || (ROCKSDB_MAJOR == 11 && ROCKSDB_MINOR >= 2)
  constexpr size_t kRangesAtOnce = 50;
  std::vector<Range> ranges = seeks.ranges;
  const auto by_begin = [](const Range& a, const Range& b) { return a.begin < b.begin; };
  const CounterWindow window(statistics());
  for (size_t first = 0; first < ranges.size(); first += kRangesAtOnce) {
    const auto begin = ranges.begin() + static_cast<ptrdiff_t>(first);
    const auto end = begin + static_cast<ptrdiff_t>(std::min(kRangesAtOnce, ranges.size() - first));
    std::sort(begin, end, by_begin);
    rocksdb::MultiScanArgs args(rocksdb::BytewiseComparator());
    const std::string* last_end = nullptr;
    for (auto range = begin; range != end; ++range) {
      if (last_end != nullptr && range->begin < *last_end) continue;
      args.insert(range->begin, range->end);
      last_end = &range->end;
    }
    const auto scans =
        db().NewMultiScan(SeekOptions(*begin, nullptr), db().DefaultColumnFamily(), args);
    for (auto scan : *scans) {
      for ([[maybe_unused]] auto row : scan) CheckInterrupt();
    }
  }
  return Ratio(window.Stop().data_blocks(), ranges.size());
#else
  return 0;
#endif
}

double RangeDatabase::TimeGets(std::span<const std::string> keys, bool are_present) {
  CheckInterrupt();
  const Stopwatch stopwatch;
  const auto expected = are_present ? std::optional(kValue) : std::nullopt;
  for (const std::string& key : keys) CheckGet(key, expected);
  return Seconds(stopwatch) / static_cast<double>(keys.size());
}

}  // namespace blocksieve::bench::ranges
