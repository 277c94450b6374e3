// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/policy/policy.h"

#include <rocksdb/table.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "blocksieve/sizing.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {
namespace {

constexpr FilterKind kKinds[] = {FilterKind::kAuto, FilterKind::kBlockedBloom, FilterKind::kRibbon,
                                 FilterKind::kStock};
constexpr double kDefaultTargetFpr = 0.01;

}  // namespace

// How OptionTable reads and writes the kind.

static std::string AllowedValues(const OptionFacts&, const FilterKind*) {
  std::string names;
  for (const FilterKind kind : kKinds) {
    names += (names.empty() ? "" : ", ") + std::string(FilterKindName(kind));
  }
  return names;
}

static std::string WriteValue(const OptionFacts&, const FilterKind& kind) {
  return std::string(FilterKindName(kind));
}

static rocksdb::Status ParseValue(const OptionFacts& option, const std::string& text,
                                  FilterKind* kind) {
  const auto* const known = std::ranges::find(kKinds, text, FilterKindName);
  if (known == std::end(kKinds)) {
    return OptionOutOfRange(option.name, text, AllowedValues(option, kind));
  }
  *kind = *known;
  return rocksdb::Status::OK();
}

const OptionTable& PolicyOptionTable() {
  using Options = FilterPolicyOptions;
  const auto option = [](const OptionFacts& facts, auto get) {
    return OptionTable::Describe<Options>(facts, get);
  };
  static const auto& table = *new OptionTable({
      option({"target_fpr",
              "goal: share of absent keys that the filter of a file lets through; 0.01 if no goal "
              "is set",
              kMinTargetFpr, kMaxTargetFpr},
             &Options::target_fpr),
      option({"wasted_reads", "goal: wasted reads of data blocks per lookup of an absent key",
              kMinWastedReads, kMaxWastedReads},
             &Options::wasted_reads),
      option({"bits_per_key", "goal: filter bits per key, for the whole tree",
              kMinAllocatedBitsPerKey, kMaxAllocatedBitsPerKey},
             &Options::bits_per_key),
      option({"kind",
              "auto: Bloom for short-lived files (flushes), else ribbon; stock: [RocksDB's "
              "own](LEVELS.md#rocksdbs-own-filters-kindstock), without `max_build_bytes`, `ranges` "
              "and `prefixes`"},
             &Options::kind),
      option({"max_build_bytes", "memory for building one filter; 0: no limit"},
             &Options::max_build_bytes),
      option({"ranges", "filters answer for ranges, too"}, &Options::ranges),
      option({"range_fpr", "share of short empty ranges let through; 0.011 if only `ranges` is set",
              kMinRangeFpr, kMaxRangeFpr},
             &Options::range_fpr),
      option({"seek_fraction", "share of seeks among reads that find nothing; 0.5 if not set",
              kMinSeekFraction, kMaxSeekFraction},
             &Options::seek_fraction),
      option({"prefixes",
              "where keys have prefixes: `delimiter:/`, `lengths:4,12`, `fields:len8,2`, `auto`; "
              "see [RANGES.md](RANGES.md#prefixes)"},
             &Options::prefixes),
      option({"prefix_fpr",
              "maximum share of absent prefixes let through; if only `prefixes` is set: 0.01, and "
              "0.0001 where prefixes are few",
              kMinTargetFpr, kMaxTargetFpr},
             &Options::prefix_fpr),
      option({"plain_range_reads", "seeks without auto_prefix_mode check filters, too"},
             &Options::plain_range_reads),
  });
  return table;
}

RateGoal ToGoal(const FilterPolicyOptions& options) {
  RateGoal goal{options.target_fpr, options.wasted_reads, options.bits_per_key};
  if (!goal.differs_by_run()) {
    goal.target_fpr = options.target_fpr.value_or(kDefaultTargetFpr);
  } else if (options.ranges) {
    goal.seek_fraction = options.seek_fraction.value_or(kDefaultSeekFraction);
  }
  goal.kind = options.kind;
  goal.has_prefixes = !options.prefixes.empty();
  return goal;
}

rocksdb::Status ValidatePolicyOptions(FilterPolicyOptions options) {
  BLOCKSIEVE_RETURN_IF_ERROR(PolicyOptionTable().Canonicalize(&options));
  const RateGoal goal = ToGoal(options);
  if (const Status status = goal.Check(); !status.ok()) {
    return rocksdb::Status::InvalidArgument("blocksieve: " + status.message() +
                                            "; clear an earlier one with NAME=none");
  }
  rocksdb::Status status;
  const auto refuse_if = [&](bool is_refused, const char* name, const std::string& allowed) {
    if (!status.ok() || !is_refused) return;
    status = OptionOutOfRange(name, PolicyOptionTable()[name].write(&options), allowed);
  };
  const bool is_stock = options.kind == FilterKind::kStock;
  refuse_if(!options.ranges && options.range_fpr, "range_fpr", "none, unless ranges=true");
  refuse_if(!options.ranges && options.seek_fraction, "seek_fraction", "none, unless ranges=true");
  refuse_if(options.prefixes.empty() && options.prefix_fpr, "prefix_fpr",
            "none, unless prefixes is set");
  const std::string stock = " with kind=stock: RocksDB's own filters ";
  refuse_if(is_stock && options.max_build_bytes != 0, "max_build_bytes",
            "0" + stock + "have no limit; cache_usage_options can charge them");
  refuse_if(is_stock && !options.prefixes.empty(), "prefixes",
            "none" + stock + "have no prefixes of their own");
  refuse_if(is_stock && options.ranges, "ranges", "false" + stock + "do not answer for ranges");
  refuse_if(!NeedsExtractor(options) && options.plain_range_reads, "plain_range_reads",
            "false, unless ranges=true or prefixes is set");
  refuse_if(goal.differs_by_run() && options.range_fpr, "range_fpr",
            "none with wasted_reads and bits_per_key, which choose this rate");
  refuse_if(!goal.differs_by_run() && options.seek_fraction, "seek_fraction",
            "none, unless wasted_reads or bits_per_key is set");
  return status;
}

std::string ForRanges(const FilterPolicyOptions& options) {
  return " (with " + (options.ranges ? "ranges=true" : "prefixes=" + options.prefixes) + ")";
}

rocksdb::Status CheckRangeOptions(const FilterPolicyOptions& filter,
                                  const rocksdb::ColumnFamilyOptions& column_family,
                                  bool check_extractor) {
  if (!NeedsExtractor(filter)) return rocksdb::Status::OK();
  const auto name_of = [](const auto& object) -> std::string_view {
    return object == nullptr ? "null" : object->Name();
  };
  const auto refused = [&](const std::string& name, std::string_view value,
                           const std::string& allowed) {
    return OptionOutOfRange(name, std::string(value), allowed + ForRanges(filter));
  };
  const std::string bytewise = "leveldb.BytewiseComparator";
  const std::string_view comparator = name_of(column_family.comparator);
  if (comparator != bytewise && comparator != bytewise + ".u64ts") {
    return refused("comparator", comparator, bytewise + ", " + bytewise + ".u64ts");
  }
  const std::string_view memtable = name_of(column_family.memtable_factory);
  if (memtable == "null" || memtable.find("Hash") != std::string_view::npos) {
    return refused("memtable_factory", memtable,
                   "one that does not hash prefixes, such as SkipListFactory");
  }
  const auto* const table =
      column_family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr) {
    return refused("table_factory", column_family.table_factory->Name(), "BlockBasedTable");
  }
  if (!table->whole_key_filtering) return refused("whole_key_filtering", "false", "true");
  if (table->index_type == rocksdb::BlockBasedTableOptions::kHashSearch) {
    return refused("index_type", "kHashSearch",
                   "kBinarySearch, kBinarySearchWithFirstKey, kTwoLevelIndexSearch");
  }
  const auto& extractor = column_family.prefix_extractor;
  if (check_extractor && !IsRangeExtractor(extractor.get())) {
    return refused("prefix_extractor", extractor == nullptr ? "not set" : extractor->Name(),
                   RangeExtractor::kName);
  }
  return rocksdb::Status::OK();
}

std::string Policy::GetPrintableOptions() const {
  FilterPolicyOptions in_effect = options_;
  in_effect.target_fpr = goal_.target_fpr;
  return PolicyOptionTable().Print(&in_effect);
}

}  // namespace blocksieve::rocksdb_plugin
