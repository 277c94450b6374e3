#include "integration/rocksdb/policy/policy.h"

#include <optional>
#include <utility>
#include <vector>

#include "blocksieve/prefix.h"
#include "blocksieve/sizing.h"
#include "integration/rocksdb/compat/option_type.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using rocksdb::ConfigOptions;
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

constexpr std::string_view kAutoPrefixes = "auto";

rocksdb::Status ParsePrefixes(const std::string&, const std::string& text, std::string* prefixes) {
  if (text == "none" || text == kAutoPrefixes) {
    *prefixes = text == "none" ? "" : text;
    return rocksdb::Status::OK();
  }
  const Result<std::string> rule = CanonicalPrefixRule(text);
  if (!rule.ok()) return ToRocksStatus(rule.status());
  *prefixes = *rule;
  return rocksdb::Status::OK();
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

RateGoal GoalOf(const FilterPolicyOptions& options) {
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
    rocksdb::Status status = ParseInRange(precision.name, ToText(*number), precision.lowest,
                                          precision.highest, &ignored);
    if (!status.ok()) return status;
  }
  const RateGoal goal = GoalOf(options);
  if (const Status status = goal.Check(); !status.ok()) {
    return rocksdb::Status::InvalidArgument("blocksieve: " + status.message() +
                                            "; clear an earlier one with NAME=none");
  }
  for (const auto& [name, number] : {std::pair{"range_fpr", options.range_fpr},
                                     std::pair{"seek_fraction", options.seek_fraction}}) {
    if (options.ranges || !number) continue;
    return OptionOutOfRange(name, ToText(*number), "none, unless ranges=true");
  }
  if (!options.prefixes.empty()) {
    std::string ignored;
    rocksdb::Status status = ParsePrefixes("prefixes", options.prefixes, &ignored);
    if (!status.ok()) return status;
  } else if (options.prefix_fpr) {
    return OptionOutOfRange("prefix_fpr", ToText(*options.prefix_fpr),
                            "none, unless prefixes is set");
  }
  if (goal.is_stock) {
    const bool has_prefixes = !options.prefixes.empty() && options.prefixes != "none";
    const std::string why = " with kind=stock: RocksDB's own filters ";
    if (options.max_build_bytes != 0) {
      return OptionOutOfRange("max_build_bytes", ToText(options.max_build_bytes),
                              "0" + why + "have no limit; cache_usage_options can charge them");
    }
    if (has_prefixes) {
      return OptionOutOfRange("prefixes", options.prefixes,
                              "none" + why + "have no prefixes of their own");
    }
    if (options.ranges) {
      return OptionOutOfRange("ranges", "true", "false" + why + "do not answer for ranges");
    }
  }
  if (!NeedsExtractor(options) && options.plain_range_reads) {
    return OptionOutOfRange("plain_range_reads", "true",
                            "false, unless ranges=true or prefixes is set");
  }
  if (goal.differs_by_run() && options.range_fpr) {
    return OptionOutOfRange("range_fpr", ToText(*options.range_fpr),
                            "none with wasted_reads and bits_per_key, which choose this rate");
  }
  if (!goal.differs_by_run() && options.seek_fraction) {
    return OptionOutOfRange("seek_fraction", ToText(*options.seek_fraction),
                            "none, unless wasted_reads or bits_per_key is set");
  }
  PolicyKind ignored;
  return ParseKind("kind", KindName(options.kind), &ignored);
}

const std::unordered_map<std::string, OptionTypeInfo>& PolicyOptionTypes() {
  static const auto& types = *[] {
    // Never destroyed: databases may be closed while static destructors run.
    auto* const made = new std::unordered_map<std::string, OptionTypeInfo>{
        {"kind",
         OptionAsText<PolicyKind>(offsetof(FilterPolicyOptions, kind), ParseKind, KindName)},
        {"max_build_bytes", WholeOption<uint64_t>(offsetof(FilterPolicyOptions, max_build_bytes))},
        {"prefixes",
         OptionAsText<std::string>(offsetof(FilterPolicyOptions, prefixes), ParsePrefixes,
                                   [](const std::string& prefixes) { return prefixes; })},
        {"ranges", SwitchOption(offsetof(FilterPolicyOptions, ranges))},
        {"plain_range_reads", SwitchOption(offsetof(FilterPolicyOptions, plain_range_reads))},
    };
    for (const Precision& each : kPrecisions) made->emplace(each.name, PrecisionType(each));
    return made;
  }();
  return types;
}

std::string PolicyOptionProblem(const ConfigOptions& config_options, const std::string& name,
                                const std::string& value) {
  const auto type = PolicyOptionTypes().find(name);
  if (type == PolicyOptionTypes().end()) {
    return "filter policy option " + internal::Shown(name + "=" + value) +
           " is unknown; allowed: target_fpr, wasted_reads, bits_per_key, kind, max_build_bytes, "
           "ranges, range_fpr, seek_fraction, prefixes, prefix_fpr, plain_range_reads";
  }
  FilterPolicyOptions ignored;
  const rocksdb::Status status = type->second.Parse(config_options, name, value, &ignored);
  return status.ok() ? "" : MessageOf(status);
}

std::string DescribePolicyOptions(const FilterPolicyOptions& options) {
  std::string text;
  for (const Precision& precision : kPrecisions) {
    const std::optional<double> number = options.*precision.field;
    if (number) text += std::string("    ") + precision.name + ": " + ToText(*number) + "\n";
  }
  const RateGoal goal = GoalOf(options);
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
