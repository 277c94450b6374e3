// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/policy/policy.h"

#include <rocksdb/table.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/sizing.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using rocksdb::OptionTypeInfo;

std::string KindName(PolicyKind kind) {
  return kind == PolicyKind::kAuto    ? "auto"
         : kind == PolicyKind::kStock ? "stock"
                                      : std::string(FilterKindName(static_cast<FilterKind>(kind)));
}

rocksdb::Status ParseKind(const std::string& name, const std::string& text, PolicyKind* kind) {
  std::vector<PolicyKind> kinds{PolicyKind::kAuto};
  for (const FilterKind built : AllFilterKinds()) {
    kinds.push_back(static_cast<PolicyKind>(built));
  }
  kinds.push_back(PolicyKind::kStock);
  std::string allowed;
  for (const PolicyKind known : kinds) {
    if (text == KindName(known)) {
      *kind = known;
      return rocksdb::Status::OK();
    }
    allowed += (allowed.empty() ? "" : ", ") + KindName(known);
  }
  return OptionOutOfRange(name, text, allowed);
}

// An option that determines how precise filters are.
struct Precision {
  const char* name;
  std::optional<double> FilterPolicyOptions::*field;
  double lowest;
  double highest;
};

constexpr Precision kPrecisions[] = {
    {"target_fpr", &FilterPolicyOptions::target_fpr, kMinTargetFpr, kMaxTargetFpr},
    {"wasted_reads", &FilterPolicyOptions::wasted_reads, kMinWastedReads, kMaxWastedReads},
    {"bits_per_key", &FilterPolicyOptions::bits_per_key, kMinAllocatedBitsPerKey,
     kMaxAllocatedBitsPerKey},
    {"range_fpr", &FilterPolicyOptions::range_fpr, kMinRangeFpr, kMaxRangeFpr},
    {"prefix_fpr", &FilterPolicyOptions::prefix_fpr, kMinTargetFpr, kMaxTargetFpr},
    {"seek_fraction", &FilterPolicyOptions::seek_fraction, kMinSeekFraction, kMaxSeekFraction},
};
constexpr double kDefaultTargetFpr = 0.01;

OptionTypeInfo PrecisionType(const Precision& precision) {
  const FilterPolicyOptions options;
  const auto* const field = reinterpret_cast<const char*>(&(options.*precision.field));
  return OptionAsText<std::optional<double>>(
      static_cast<size_t>(field - reinterpret_cast<const char*>(&options)),
      [&precision](const std::string& name, const std::string& text,
                   std::optional<double>* number) {
        std::optional<double> value;
        rocksdb::Status status;
        // SetOptions keeps the options of a policy of the same id unless they are set again, so an
        // earlier goal must be cleared where another one is set.
        if (text != "none") {
          status = ParseInRange(name, text, precision.lowest, precision.highest, &value.emplace());
        }
        if (status.ok()) *number = value;
        return status;
      },
      // RocksDB omits options whose text is empty, here those that are not set.
      [](const std::optional<double>& number) { return number ? ToText(*number) : ""; });
}

}  // namespace

RateGoal ToGoal(const FilterPolicyOptions& options) {
  RateGoal goal{options.target_fpr, options.wasted_reads, options.bits_per_key};
  if (!goal.differs_by_run()) {
    goal.target_fpr = options.target_fpr.value_or(kDefaultTargetFpr);
  } else if (options.ranges) {
    goal.seek_fraction = options.seek_fraction.value_or(kDefaultSeekFraction);
  }
  goal.is_stock = options.kind == PolicyKind::kStock;
  if (options.kind != PolicyKind::kAuto && !goal.is_stock) {
    goal.kind = static_cast<FilterKind>(options.kind);
  }
  goal.has_prefixes = !options.prefixes.empty();
  return goal;
}

rocksdb::Status ValidatePolicyOptions(const FilterPolicyOptions& options) {
  for (const Precision& precision : kPrecisions) {
    const std::optional<double>& number = options.*precision.field;
    if (!number) continue;
    double ignored = 0;
    BLOCKSIEVE_RETURN_IF_ERROR(ParseInRange(precision.name, ToText(*number), precision.lowest,
                                            precision.highest, &ignored));
  }
  const RateGoal goal = ToGoal(options);
  if (const Status status = goal.Check(); !status.ok()) {
    return rocksdb::Status::InvalidArgument("blocksieve: " + status.message() +
                                            "; clear an earlier one with NAME=none");
  }
  rocksdb::Status status;
  const auto refuse_if = [&](bool is_refused, const char* name, const std::string& value,
                             const std::string& allowed) {
    if (status.ok() && is_refused) status = OptionOutOfRange(name, value, allowed);
  };
  const auto text = [](const auto& number) { return number ? ToText(*number) : ""; };
  const auto& range_fpr = options.range_fpr;
  const auto& seek_fraction = options.seek_fraction;
  const bool has_prefixes = !options.prefixes.empty();
  refuse_if(!options.ranges && range_fpr, "range_fpr", text(range_fpr), "none, unless ranges=true");
  refuse_if(!options.ranges && seek_fraction, "seek_fraction", text(seek_fraction),
            "none, unless ranges=true");
  std::string rule;
  if (has_prefixes && status.ok()) status = ParsePrefixes("prefixes", options.prefixes, &rule);
  refuse_if(!has_prefixes && options.prefix_fpr, "prefix_fpr", text(options.prefix_fpr),
            "none, unless prefixes is set");
  const std::string stock = " with kind=stock: RocksDB's own filters ";
  refuse_if(goal.is_stock && options.max_build_bytes != 0, "max_build_bytes",
            ToText(options.max_build_bytes),
            "0" + stock + "have no limit; cache_usage_options can charge them");
  refuse_if(goal.is_stock && !rule.empty(), "prefixes", options.prefixes,
            "none" + stock + "have no prefixes of their own");
  refuse_if(goal.is_stock && options.ranges, "ranges", "true",
            "false" + stock + "do not answer for ranges");
  refuse_if(!NeedsExtractor(options) && options.plain_range_reads, "plain_range_reads", "true",
            "false, unless ranges=true or prefixes is set");
  refuse_if(goal.differs_by_run() && range_fpr, "range_fpr", text(range_fpr),
            "none with wasted_reads and bits_per_key, which choose this rate");
  refuse_if(!goal.differs_by_run() && seek_fraction, "seek_fraction", text(seek_fraction),
            "none, unless wasted_reads or bits_per_key is set");
  if (!status.ok()) return status;
  PolicyKind ignored;
  return ParseKind("kind", KindName(options.kind), &ignored);
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

const OptionTypes& PolicyOptionTypes() {
  static const auto& types = *[] {
    // Never destroyed: databases may be closed while static destructors run.
    auto* const made = new OptionTypes{
        {"kind",
         OptionAsText<PolicyKind>(offsetof(FilterPolicyOptions, kind), ParseKind, KindName)},
        {"max_build_bytes", WholeOption<uint64_t>(offsetof(FilterPolicyOptions, max_build_bytes))},
        {"prefixes", PrefixesOption(offsetof(FilterPolicyOptions, prefixes))},
        {"ranges", SwitchOption(offsetof(FilterPolicyOptions, ranges))},
        {"plain_range_reads", SwitchOption(offsetof(FilterPolicyOptions, plain_range_reads))},
    };
    for (const Precision& each : kPrecisions) made->emplace(each.name, PrecisionType(each));
    return made;
  }();
  return types;
}

std::string Policy::GetPrintableOptions() const {
  const FilterPolicyOptions& options = options_;
  std::string text;
  for (const Precision& precision : kPrecisions) {
    const std::optional<double> number = options.*precision.field;
    if (number) text += std::string("    ") + precision.name + ": " + ToText(*number) + "\n";
  }
  const RateGoal goal = ToGoal(options);
  if (goal.target_fpr && !options.target_fpr) {
    text += "    target_fpr: " + ToText(*goal.target_fpr) + "\n";
  }
  return text + "    kind: " + KindName(options.kind) +
         "\n    max_build_bytes: " + ToText(options.max_build_bytes) +
         "\n    ranges: " + SwitchText(options.ranges) +
         "\n    prefixes: " + (options.prefixes.empty() ? "none" : options.prefixes) +
         "\n    plain_range_reads: " + SwitchText(options.plain_range_reads) + "\n";
}

}  // namespace blocksieve::rocksdb_plugin
