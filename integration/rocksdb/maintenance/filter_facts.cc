// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/maintenance/file_report.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <set>
#include <utility>

#include "blocksieve/filter.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/base/coding.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// The trailer of stock filters. Its first byte is the kind (number of probes for legacy Bloom):
//   -1 (Bloom)         0, probes (low 5 bits) and log2 of lines of 64 bytes (high 3), 2 bytes
//   -2 (Ribbon)        seed, number of blocks of 128 slots (24 bits)
//   >0 (legacy Bloom)  number of lines (32 bits)
constexpr size_t kTrailerBytes = 5;
constexpr int8_t kBloomMarker = -1;
constexpr int8_t kRibbonMarker = -2;

FilterReport Unreadable(std::string problem) {
  FilterReport report;
  report.origin = FilterOrigin::kUnreadable;
  report.problems = {std::move(problem)};
  return report;
}

// The FPR of a stock Ribbon halves with each column. Later blocks may have one more column.
double RibbonFpr(uint64_t num_blocks, uint64_t data_bytes) {
  constexpr uint64_t kSegmentBytes = 16;  // one column of a block of 128 slots
  const uint64_t num_segments = data_bytes / kSegmentBytes;
  const uint64_t columns = num_segments / num_blocks;
  const double share_of_wide = Ratio(num_segments % num_blocks, num_blocks);
  return std::exp2(-static_cast<double>(columns)) * (1 - share_of_wide / 2);
}

// FPR of a Bloom filter in a table with a format_version below 5: RocksDB's own estimate, in
// LegacyBloomImpl. It is 0 to 15 % too high from 5 to 24 bits per key, and up to 1.7 times in
// filters of a few lines. The positions of a key follow from one 32-bit hash, so keys share more of
// them than if they were independent (rocksdb#4120).
double LegacyBloomFpr(uint64_t data_bytes, uint64_t num_keys, uint32_t num_probes) {
  if (data_bytes == 0) return 1;
  const auto keys = static_cast<double>(std::max<uint64_t>(num_keys, 1));
  const double bits_per_key = 8 * static_cast<double>(data_bytes) / keys;
  const double dependent = 0.1 / (bits_per_key * 0.75 + 22);
  const double same_hash = -std::expm1(-keys * std::exp2(-32));
  constexpr uint32_t kMaxProbes = 30;  // RocksDB's
  const double fpr =
      BlockedBloomFpr(bits_per_key, std::clamp(num_probes, 1U, kMaxProbes)) + dependent;
  return std::min(1.0, fpr + same_hash - fpr * same_hash);
}

FilterReport DescribeOurs(ByteView contents) {
  const Result<FilterDescription> filter = DescribeFilter(contents);
  if (!filter.ok()) {
    const bool is_blank =
        std::all_of(contents.begin(), contents.end(), [](uint8_t byte) { return byte == 0; });
    return Unreadable(is_blank ? "blank, matches everything" : filter.status().message());
  }
  FilterReport facts;
  facts.origin = FilterOrigin::kBlocksieve;
  facts.kinds = {filter->kind};
  facts.num_entries = filter->num_keys;
  facts.predicted_fpr = filter->predicted_fpr;
  if (filter->range_bytes != 0) {
    facts.ranges = {1, filter->range_bytes, filter->estimated_range_fpr};
  }
  if (filter->num_prefixes == 0) return facts;
  // The key filter has the hashes of prefixes besides those of keys.
  facts.num_prefixes = filter->num_prefixes;
  facts.num_prefix_hashes = filter->num_prefix_hashes;
  facts.prefix_rules = {filter->prefix_rule};
  const uint64_t point_bytes = filter->block_bytes - filter->range_bytes - filter->prefix_bytes;
  const double share = Ratio(facts.num_prefix_hashes, filter->num_keys + facts.num_prefix_hashes);
  facts.prefixes = {.num_filters = 1,
                    .num_bytes = filter->prefix_bytes +
                                 static_cast<uint64_t>(static_cast<double>(point_bytes) * share),
                    .fpr = std::pow(facts.predicted_fpr, filter->prefix_lookups)};
  return facts;
}

FilterReport DescribeStock(ByteView contents, double bits_per_entry) {
  const ByteView trailer = contents.last(kTrailerBytes);
  const size_t data_bytes = contents.size() - kTrailerBytes;
  FilterReport facts;
  facts.origin = FilterOrigin::kStock;
  facts.num_entries =
      static_cast<uint64_t>(8 * static_cast<double>(contents.size()) / bits_per_entry);
  const auto marker = static_cast<int8_t>(trailer[0]);
  if (marker == kBloomMarker && trailer[1] == 0) {
    facts.kinds = {FilterKind::kStockBloom};
    facts.predicted_fpr = BlockedBloomFpr(bits_per_entry, std::max(trailer[2] & 31u, 1u));
  } else if (marker == kRibbonMarker) {
    const uint64_t num_blocks = LoadLittleEndian<uint32_t>(trailer.data() + 1) >> 8;
    if (num_blocks == 0) return Unreadable("stock Ribbon filter without slots");
    facts.kinds = {FilterKind::kStockRibbon};
    facts.predicted_fpr = RibbonFpr(num_blocks, data_bytes);
  } else if (marker > 0) {
    facts.has_legacy_blooms = true;
    const uint64_t num_lines = LoadLittleEndian<uint32_t>(trailer.data() + 1);
    const uint64_t line_bits = num_lines == 0 ? 0 : 8 * data_bytes / num_lines;
    // The cache lines of RocksDB's machines: 64 bytes, or 128 or 256 on some.
    const bool is_line = line_bits == 512 || line_bits == 1024 || line_bits == 2048;
    if (!is_line || num_lines * line_bits != 8 * data_bytes) {
      return Unreadable("legacy Bloom filter of no whole lines");
    }
    facts.predicted_fpr =
        LegacyBloomFpr(data_bytes, facts.num_entries, static_cast<uint32_t>(marker));
  } else {
    facts.origin = FilterOrigin::kUnknown;
    facts.note = "unknown kind " + std::to_string(marker);
  }
  return facts;
}

FilterReport ReportFilter(ByteView contents, double stock_bits_per_entry) {
  if (contents.size() <= kTrailerBytes) return Unreadable("too short");
  return HasFilterBlockTail(contents) ? DescribeOurs(contents)
                                      : DescribeStock(contents, stock_bits_per_entry);
}

// A mean over entries, as lookups are distributed.
struct MeanFpr {
  double entries = 0;
  double sum = 0;

  void Add(double more, double fpr) {
    entries += more;
    sum += more * fpr;
  }
  double Get() const { return entries == 0 ? 1 : sum / entries; }
};

}  // namespace

std::string OriginName(FilterOrigin origin) {
  constexpr const char* kNames[] = {"none", "blocksieve", "stock", "unknown", "unreadable"};
  return kNames[static_cast<size_t>(origin)];
}

void DescribeFilters(const std::vector<std::string>& filters, uint64_t num_entries,
                     FilterReport* report) {
  assert(!filters.empty() && num_entries > 0);
  report->num_filters = filters.size();
  for (const std::string& contents : filters) report->num_bytes += contents.size();
  const double bits_per_entry = 8 * Ratio(report->num_bytes, num_entries);
  // Of a filter that does not record them: partitions have similar sizes.
  const double typical_entries =
      static_cast<double>(num_entries) / static_cast<double>(filters.size());
  std::optional<FilterOrigin> readable;
  MeanFpr all, ribbons, blooms, ranges, prefixes;
  std::set<std::string> rules;
  for (const std::string& contents : filters) {
    const FilterReport facts = ReportFilter(AsBytes(contents), bits_per_entry);
    const double entries =
        facts.num_entries == 0 ? typical_entries : static_cast<double>(facts.num_entries);
    const auto add_part = [entries](const PartReport& part, PartReport* sum, MeanFpr* mean) {
      if (part.num_filters == 0) return;
      ++sum->num_filters;
      sum->num_bytes += part.num_bytes;
      mean->Add(entries, part.fpr);
      sum->fpr = mean->Get();
    };
    add_part(facts.ranges, &report->ranges, &ranges);
    add_part(facts.prefixes, &report->prefixes, &prefixes);
    report->num_prefixes += facts.num_prefixes;
    report->num_prefix_hashes += facts.num_prefix_hashes;
    rules.insert(facts.prefix_rules.begin(), facts.prefix_rules.end());
    report->origin = facts.origin;
    report->num_entries += facts.num_entries;
    report->kinds.insert(facts.kinds.begin(), facts.kinds.end());
    report->has_legacy_blooms |= facts.has_legacy_blooms;
    all.Add(entries, facts.predicted_fpr);
    if (facts.origin == FilterOrigin::kUnknown) {
      report->note = facts.note;
    } else if (facts.origin == FilterOrigin::kUnreadable) {
      report->problems.push_back("unreadable filter: " + facts.problems.front());
    } else {
      readable = facts.origin;
      (facts.kinds.contains(FilterKind::kStockRibbon) ? ribbons : blooms)
          .Add(entries, facts.predicted_fpr);
    }
  }
  if (readable) report->origin = *readable;
  report->predicted_fpr = all.Get();
  report->prefix_rules.assign(rules.begin(), rules.end());
  if (report->origin != FilterOrigin::kStock) return;
  report->num_entries = num_entries;
  // Instead of a small Ribbon, RocksDB writes a Bloom filter of the same rate. Its bits per key are
  // not recorded, and differ from the file's mean.
  if (ribbons.entries == 0 || !report->kinds.contains(FilterKind::kStockBloom)) return;
  report->predicted_fpr += blooms.entries / all.entries * (ribbons.Get() - blooms.Get());
}

FilterReport ReportFilters(const rocksdb::TableProperties& properties,
                           const std::vector<std::string>& filters) {
  FilterReport report;
  report.policy = properties.filter_policy_name;
  report.has_range_extractor = properties.prefix_extractor_name == RangeExtractor::kName ||
                               properties.prefix_extractor_name == RangeExtractor::kMarkedName;
  if (filters.empty()) {
    if (properties.filter_size != 0) report.origin = FilterOrigin::kUnknown;
    return report;
  }
  const uint64_t entries =
      properties.num_filter_entries != 0 ? properties.num_filter_entries : properties.num_entries;
  DescribeFilters(filters, std::max<uint64_t>(entries, 1), &report);
  // The filter size of partitioned filters includes their index.
  report.shape = properties.filter_size > report.num_bytes ? "partitioned" : "full";
  if (report.answers_ranges()) TestRangesOnce();
  return report;
}

IndexReport ReportIndex(const OpenedBlockIndex& opened,
                        const rocksdb::TableProperties& properties) {
  IndexReport report;
  if (opened.num_bytes == 0 && opened.problem.empty()) return report;
  report.num_bytes = opened.num_bytes;
  report.place = kBlockIndexPlace;
  report.problem = opened.problem;
  if (opened.index == nullptr) return report;
  report.num_granules = opened.index->entries().size();
  report.options_id = opened.index->options_id();
  report.has_file_id = FindFileId(properties) == opened.index->id();
  if (opened.index->values() != nullptr) report.columns = opened.index->values()->columns();
  return report;
}

}  // namespace blocksieve::rocksdb_plugin
