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

constexpr double kDefaultTargetFpr = 0.01;

/// The first of the options that others exclude.
struct Refusals {
  const EnableOptions& options;
  rocksdb::Status status = {};

  void Add(bool is_refused, const char* name, const std::string& allowed) {
    if (!status.ok() || !is_refused) return;
    status = OptionOutOfRange(name, EnableOptionTable()[name].write(&options), allowed);
  }
};

}  // namespace

RateGoal ToGoal(const EnableOptions& options) {
  RateGoal goal{options.target_fpr, options.wasted_reads, options.bits_per_key};
  if (options.filter_memory) {
    goal.filter_bytes = kPlannedShare * static_cast<double>(*options.filter_memory);
  }
  if (!goal.differs_by_run()) {
    goal.target_fpr = options.target_fpr.value_or(kDefaultTargetFpr);
  } else if (options.ranges) {
    goal.seek_fraction = options.seek_fraction.value_or(kDefaultSeekFraction);
  }
  goal.kind = options.kind.value_or(FilterKind::kAuto);
  goal.has_prefixes = !options.prefixes.empty();
  return goal;
}

rocksdb::Status CheckDependentOptions(const EnableOptions& options) {
  Refusals refusals{options};
  refusals.Add(!options.ranges && options.range_fpr, "range_fpr", "none, unless ranges=true");
  refusals.Add(!options.ranges && options.seek_fraction, "seek_fraction",
               "none, unless ranges=true");
  refusals.Add(options.prefixes.empty() && options.prefix_fpr, "prefix_fpr",
               "none, unless prefixes is set");
  refusals.Add(!AnswersRanges(options) && options.plain_range_reads, "plain_range_reads",
               "false, unless ranges=true or prefixes is set");
  refusals.Add(!options.filter_memory && !options.budget.empty(), "budget",
               "none, unless filter_memory is set");
  return refusals.status;
}

rocksdb::Status ValidatePolicyOptions(EnableOptions options) {
  BLOCKSIEVE_RETURN_IF_ERROR(PolicyOptionTable().Copy(&options, &options));
  BLOCKSIEVE_RETURN_IF_ERROR(CheckDependentOptions(options));
  Refusals goals{options};
  goals.Add(options.target_fpr || options.wasted_reads || options.bits_per_key, "filter_memory",
            "none with another goal; clear one of them with NAME=none");
  if (options.filter_memory) BLOCKSIEVE_RETURN_IF_ERROR(goals.status);
  const RateGoal goal = ToGoal(options);
  if (const Status status = goal.Check(); !status.ok()) {
    return rocksdb::Status::InvalidArgument("blocksieve: " + status.message() +
                                            "; clear an earlier one with NAME=none");
  }
  Refusals refusals{options};
  const bool is_stock = options.kind == FilterKind::kStock;
  const std::string stock = " with kind=stock: RocksDB's own filters ";
  refusals.Add(is_stock && options.max_build_bytes != 0, "max_build_bytes",
               "0" + stock + "have no limit; cache_usage_options can charge them");
  refusals.Add(is_stock && !options.prefixes.empty(), "prefixes",
               "none" + stock + "have no prefixes of their own");
  refusals.Add(is_stock && options.ranges, "ranges", "false" + stock + "do not answer for ranges");
  refusals.Add(!options.columns.empty(), "columns", "none in a filter policy alone; call Enable");
  refusals.Add(options.carrier == Carrier::kBlockIndex, "carrier",
               "auto, filter_and_sidecar in a filter policy alone; call Enable");
  refusals.Add(goal.differs_by_run() && options.range_fpr, "range_fpr",
               "none with wasted_reads, bits_per_key and filter_memory, which choose this rate");
  refusals.Add(!goal.differs_by_run() && options.seek_fraction, "seek_fraction",
               "none, unless wasted_reads, bits_per_key or filter_memory is set");
  return refusals.status;
}

rocksdb::Status CheckRangeOptions(const EnableOptions& filter,
                                  const rocksdb::ColumnFamilyOptions& column_family,
                                  bool check_extractor) {
  if (!AnswersRanges(filter)) return rocksdb::Status::OK();
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
  EnableOptions in_effect = options_;
  in_effect.target_fpr = goal_.target_fpr;
  in_effect.kind = goal_.kind;
  return PolicyOptionTable().Print(&in_effect);
}

}  // namespace blocksieve::rocksdb_plugin
