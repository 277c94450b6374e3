// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/maintenance/file_report.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <set>
#include <utility>

#include "blocksieve/filter.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/stock_filters.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/levels/filter_budget.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve::rocksdb_plugin {
namespace {

FilterReport Unreadable(std::string problem) {
  FilterReport report;
  report.origin = FilterOrigin::kUnreadable;
  report.problems = {std::move(problem)};
  return report;
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
  const StockFilter filter = DescribeStockFilter(contents, bits_per_entry);
  if (*filter.problem != '\0') return Unreadable(filter.problem);
  FilterReport facts;
  facts.origin = FilterOrigin::kStock;
  facts.num_entries =
      static_cast<uint64_t>(8 * static_cast<double>(contents.size()) / bits_per_entry);
  facts.predicted_fpr = filter.fpr;
  facts.has_legacy_blooms = filter.is_legacy_bloom;
  if (filter.kind) {
    facts.kinds = {*filter.kind};
  } else if (!filter.is_legacy_bloom) {
    facts.origin = FilterOrigin::kUnknown;
    facts.note = "unknown kind " + std::to_string(filter.marker);
  }
  return facts;
}

FilterReport ReportFilter(ByteView contents, double stock_bits_per_entry) {
  const bool is_ours = contents.size() > kZeroTailBytes && HasFilterBlockTail(contents);
  return is_ours ? DescribeOurs(contents) : DescribeStock(contents, stock_bits_per_entry);
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
  report.is_left_out =
      FindProperty(properties.user_collected_properties, kBlockIndexBytesProperty) == "0";
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
