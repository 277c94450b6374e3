// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/database/filter_options.h"

#include <fmt/ranges.h>
#include <rocksdb/convenience.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>

#include "blocksieve/filter.h"
#include "integration/rocksdb/block_index/factory.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve::cli {
namespace {

using rocksdb_plugin::SplitList;

constexpr const char* kOurs = "blocksieve";  // the policy and the listener
constexpr const char* kAllowed =
    "filter_policy, prefix_extractor, table_properties_collectors, user_defined_index_factory, "
    "listeners";
constexpr const char* kBlockIndex = "user_defined_index_factory";  // of tables
constexpr const char* kCollectors = "table_properties_collectors";
constexpr const char* kListeners = "listeners";

// In braces, RocksDB 7.8 reads several elements as one name, which it does not know.
std::string ToText(const std::vector<std::string>& elements) {
  return elements.size() == 1 ? "{" + elements.front() + "}"
         : elements.empty()   ? "{}"
                              : fmt::format("{}", fmt::join(elements, ":"));
}

// Why RocksDB does not make the object of an option, or of an element of a list; "" if it does. Of
// what is, or resembles, an object of blocksieve, our own parser says it: RocksDB's names neither
// the value nor what is allowed, and none of the listeners that it does not know.
std::string WhyRefused(const std::string& option, const std::string& value) {
  using namespace rocksdb_plugin;  // NOLINT: the same component
  const SilentLog silent;
  rocksdb::ColumnFamilyOptions made;
  rocksdb::Status status;
  if (option == kBlockIndex) status = CheckBlockIndexText(value);
  if (option == kCollectors || option == "prefix_extractor") {
    // RocksDB 11.5 takes the braces of a lone element for those of the list.
    const std::string text = option == kCollectors ? ToText({value}) : value;
    status = rocksdb::GetColumnFamilyOptionsFromMap(Strict(), {}, {{option, text}}, &made);
  }
  const std::string reason = option == "filter_policy" ? Judge(value).reason
                             : status.ok()             ? ""
                                                       : status.ToString();
  if (reason.empty() && option != kListeners) return "";
  static const OptionTable kNone({});
  EnableOptions features;
  SkipIndexSettings index;
  const std::map<std::string, std::tuple<std::string, const OptionTable*, void*>> kinds = {
      {"filter_policy", {kOurs, &PolicyOptionTable(), &features}},
      {kListeners, {kOurs, &kNone, nullptr}},
      {"prefix_extractor", {RangeExtractor::kName, &kNone, nullptr}},
      {kCollectors, {SkipIndexCollectorFactory::kName, &SkipIndexOptionTable(), &index}},
      {kBlockIndex, {kBlockIndexName, &BlockIndexOptionTable(), &features}}};
  const auto& [id, table, parsed] = kinds.at(option);
  std::string name = ParseId(value);
  name.resize(std::min(name.find(':'), name.size()));
  if (!name.starts_with(kOurs) && !IsMisspelt(name, kOurs) && !IsMisspelt(name, id)) return reason;
  status = table->ParseAll(value, id, parsed);
  return status.ok() ? reason : ToMessage(status);
}

// Whether blocksieve's policy has the same options in both texts; RocksDB writes all of them.
bool IsSamePolicy(const std::string& a, const std::string& b) {
  const auto policy_a = rocksdb_plugin::Judge(a).policy;
  const auto policy_b = rocksdb_plugin::Judge(b).policy;
  std::string difference;
  return rocksdb_plugin::As<rocksdb_plugin::Policy>(policy_a.get()) != nullptr &&
         policy_b != nullptr && policy_a->AreEquivalent({}, policy_b.get(), &difference);
}

// Adds a listener, or those of a list, to those that the file names.
void PutListener(OptionsText* options, const std::string& value = kOurs) {
  std::vector<std::string> listeners =
      SplitList(options->Find(OptionsSection::Db(), kListeners).value_or("{}"));
  const size_t num_present = listeners.size();
  for (const std::string& listener : SplitList(value)) {
    if (std::find(listeners.begin(), listeners.end(), listener) == listeners.end()) {
      listeners.push_back(listener);
    }
  }
  if (listeners.size() == num_present) return;
  SetOption(OptionsSection::Db(), kListeners, ToText(listeners), options);
}

// Replaces the collectors of a family that are so, at the end of its list.
void ReplaceCollectors(const std::string& family,
                       const std::function<bool(const std::optional<std::string>&)>& are_so,
                       const std::vector<std::string>& added, OptionsText* options) {
  const OptionsSection section = OptionsSection::Family(family);
  std::vector<std::string> elements = SplitList(options->Find(section, kCollectors).value_or("{}"));
  const std::string before = ToText(elements);
  std::erase_if(elements, are_so);
  elements.insert(elements.end(), added.begin(), added.end());
  if (ToText(elements) != before) SetOption(section, kCollectors, ToText(elements), options);
}

// Sets the options that a policy needs: the listener, if its rates depend on the sizes of levels,
// and the prefix extractor of range filters, unless there is another one.
void PutNeeds(const std::string& policy_value, const std::vector<std::string>& families,
              OptionsText* options) {
  const auto policy = rocksdb_plugin::Judge(policy_value).policy;
  const auto* const ours = rocksdb_plugin::As<rocksdb_plugin::Policy>(policy.get());
  if (ours == nullptr) return;
  if (rocksdb_plugin::ToGoal(ours->options()).differs_by_run()) {
    PutListener(options);
  }
  if (!rocksdb_plugin::AnswersRanges(ours->options())) return;
  for (const std::string& family : families) {
    const OptionsSection section = OptionsSection::Family(family);
    if (IsNone(options->Find(section, "prefix_extractor"))) {
      SetOption(section, "prefix_extractor", rocksdb_plugin::RangeExtractor::kName, options);
    }
  }
}

}  // namespace

bool NamesBlocksieve(const std::optional<std::string>& value) {
  return value && (value->starts_with("blocksieve") || value->find("id=blocksieve") != value->npos);
}

bool IsNone(const std::optional<std::string>& value) {
  return !value || value->empty() || *value == "nullptr";
}

std::string WithoutListener(const std::string& listeners) {
  std::vector<std::string> elements = SplitList(listeners);
  return std::erase(elements, kOurs) == 0 ? listeners : ToText(elements);
}

void SetOption(const OptionsSection& section, const std::string& option, const std::string& value,
               OptionsText* options) {
  term::CheckOk(options->Set(section, option, value), "cannot set {} in {}", option,
                options->name());
}

std::string ChangesText(const OptionsText& options) {
  std::string shown;
  std::string shown_title;
  for (const rocksdb_plugin::OptionChange& change : options.Changes()) {
    if (change.title != shown_title) shown += fmt::format("  [{}]\n", change.title);
    shown_title = change.title;
    if (change.before) shown += fmt::format("-  {}={}\n", change.option, *change.before);
    shown += fmt::format("+  {}={}\n", change.option, change.after);
  }
  return shown;
}

void PutCollectors(const std::string& family, const Collectors& collectors, OptionsText* options) {
  std::vector<std::string> added;
  for (const auto& collector : collectors) {
    if (collector == nullptr || !NamesBlocksieve(collector->Name())) continue;
    const auto& writable = static_cast<const rocksdb::Customizable&>(*collector);
    added.push_back(writable.ToString(rocksdb::ConfigOptions()));
  }
  ReplaceCollectors(family, NamesBlocksieve, added, options);
}

void PutFileIds(const std::string& family, bool has_columns, OptionsText* options) {
  const std::string name = rocksdb_plugin::FileIdCollectorFactory::kName;
  const auto is_of_ids = [&](const auto& collector) {
    return rocksdb_plugin::ParseId(*collector) == name;
  };
  const std::vector<std::string> added(has_columns ? 1 : 0, name);
  ReplaceCollectors(family, is_of_ids, added, options);
}

void PutOption(const std::string& option, const std::vector<std::string>& families,
               OptionsText* options) {
  const size_t equals = option.find('=');
  const std::string shown = term::Shorten(option.empty() ? "''" : option);
  const std::string name = option.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
  if (value.empty()) {
    term::FailUsage("--option is {}; allowed: NAME=VALUE, with NAME one of {}", shown, kAllowed);
  }
  if (value.find_first_of("\r\n") != std::string::npos) {
    term::FailUsage("--option is {}; allowed: a value without line breaks", shown);
  }
  const bool is_policy = name == "filter_policy";
  const bool is_list = name == kCollectors || name == kListeners;
  const bool is_of_table = is_policy || name == kBlockIndex;
  if (!is_of_table && !is_list && name != "prefix_extractor") {
    term::FailUsage("--option is {}; allowed names: {}", shown, kAllowed);
  }
  for (const std::string& element : is_list ? SplitList(value) : std::vector{value}) {
    const std::string why = WhyRefused(name, element);
    if (!why.empty()) term::FailUsage("--option is {}, which RocksDB refuses: {}", shown, why);
  }
  if (name == kListeners) return PutListener(options, value);
  for (const std::string& family : families) {
    const std::string table = options->TableFactory(family);
    if (is_of_table && table != "BlockBasedTable") {
      term::Fail(
          "column family {} has table_factory {}, whose files have no {}; allowed: "
          "BlockBasedTable",
          family, table, is_policy ? "filters" : "block indexes");
    }
    const auto section =
        is_of_table ? OptionsSection::Table(family) : OptionsSection::Family(family);
    if (is_policy && IsSamePolicy(options->Find(section, name).value_or(""), value)) continue;
    SetOption(section, name, value, options);
    if (name == kBlockIndex)
      PutFileIds(family, value.find("columns=") != std::string::npos, options);
  }
  if (is_policy) PutNeeds(value, families, options);
}

std::string WhyNoFilterIsBuilt(const std::string& policy_value) {
  const auto policy = rocksdb_plugin::Judge(policy_value).policy;
  const auto* const ours = rocksdb_plugin::As<rocksdb_plugin::Policy>(policy.get());
  if (ours == nullptr) return "";
  const EnableOptions& options = ours->options();
  if (options.kind == FilterKind::kStock) return "";
  const std::array<std::string_view, 1> key = {"key"};
  const Result<Filter> filter = Filter::Build(
      key, {.kind = ChooseKind(options.kind.value_or(FilterKind::kAuto), /*is_short_lived=*/true),
            .max_build_bytes = options.max_build_bytes});
  return filter.ok() ? "" : "no filter will be built: " + filter.status().message();
}

std::string ShellWord(const std::string& text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._-+,:@%=").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::pair<const char*, double> GoalOption(const EnableOptions& policy) {
  if (policy.wasted_reads) return {"wasted_reads", *policy.wasted_reads};
  if (policy.bits_per_key) return {"bits_per_key", *policy.bits_per_key};
  if (policy.filter_memory) return {"filter_memory", static_cast<double>(*policy.filter_memory)};
  return {"target_fpr", policy.target_fpr.value()};
}

std::string GoalText(const EnableOptions& policy) {
  const auto [option, value] = GoalOption(policy);
  return fmt::format("{}={}", option, value);
}

std::string DescribeParts(const EnableOptions& policy) {
  if (policy.prefixes.empty()) return policy.ranges ? "range filters" : "";
  return policy.ranges ? "prefixes and range filters" : "prefixes";
}

std::string PolicyOption(const EnableOptions& policy) {
  std::string parts = policy.prefixes.empty() ? "" : ";prefixes=" + policy.prefixes;
  if (policy.range_fpr) parts += fmt::format(";ranges=true;range_fpr={}", *policy.range_fpr);
  return "filter_policy={id=blocksieve;" + GoalText(policy) +
         ";kind=" + std::string(FilterKindName(policy.kind.value_or(FilterKind::kAuto))) + parts +
         "}";
}

}  // namespace blocksieve::cli
