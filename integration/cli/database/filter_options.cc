#include "integration/cli/database/filter_options.h"

#include <fmt/format.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "blocksieve/filter.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/text.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kListener = "blocksieve";
constexpr const char* kAllowed =
    "filter_policy, prefix_extractor, table_properties_collectors, listeners";

rocksdb::ConfigOptions Strict() {
  rocksdb::ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  strict.ignore_unknown_options = false;
  return strict;
}

template <class Object>
rocksdb::Status Make(const std::string& value) {
  std::shared_ptr<Object> object;
  return std::remove_const_t<Object>::CreateFromString(Strict(), value, &object);
}

std::string ToText(const std::vector<std::string>& elements) {
  std::string text;
  for (const std::string& element : elements) text += (text.empty() ? "" : ":") + element;
  return "{" + text + "}";
}

std::shared_ptr<const rocksdb::FilterPolicy> PolicyFrom(const std::string& value) {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  rocksdb::FilterPolicy::CreateFromString({}, value, &policy).PermitUncheckedError();
  return policy;
}

// Whether blocksieve's policy has the same options in both texts; RocksDB writes all of them.
bool IsSamePolicy(const std::string& a, const std::string& b) {
  const auto policy_a = PolicyFrom(a);
  const auto policy_b = PolicyFrom(b);
  std::string difference;
  return rocksdb_plugin::As<rocksdb_plugin::Policy>(policy_a.get()) != nullptr &&
         policy_b != nullptr && policy_a->AreEquivalent({}, policy_b.get(), &difference);
}

void AddListeners(const std::string& value, OptionsFile* file) {
  std::vector<std::string> listeners =
      ElementsOf(file->Find(kDbSection, "listeners").value_or("{}"));
  const size_t num_present = listeners.size();
  for (const std::string& listener : ElementsOf(value)) {
    if (std::find(listeners.begin(), listeners.end(), listener) == listeners.end()) {
      listeners.push_back(listener);
    }
  }
  if (listeners.size() > num_present) file->Set(kDbSection, "listeners", ToText(listeners));
}

// Sets the options that a policy needs: the listener, if its rates depend on the sizes of levels,
// and the prefix extractor of range filters, unless there is another one.
void PutNeeds(const std::string& policy_value, const std::vector<std::string>& families,
              OptionsFile* file) {
  const auto policy = PolicyFrom(policy_value);
  const auto* const ours = rocksdb_plugin::As<rocksdb_plugin::Policy>(policy.get());
  if (ours == nullptr) return;
  if (rocksdb_plugin::GoalOf(ours->options()).differs_by_run()) {
    AddListeners(kListener, file);
  }
  if (!rocksdb_plugin::NeedsExtractor(ours->options())) return;
  for (const std::string& family : families) {
    const std::string section = FamilySection(family);
    if (IsNone(file->Find(section, "prefix_extractor"))) {
      file->Set(section, "prefix_extractor", rocksdb_plugin::RangeExtractor::kName);
    }
  }
}

}  // namespace

rocksdb::Status StrictStatus(const std::string& option, const std::string& value) {
  if (option == "filter_policy") return Make<const rocksdb::FilterPolicy>(value);
  if (option == "prefix_extractor") return Make<const rocksdb::SliceTransform>(value);
  if (option == "listeners") return Make<rocksdb::EventListener>(value);
  if (option == "merge_operator") return Make<rocksdb::MergeOperator>(value);
  if (option == "comparator") {
    const rocksdb::Comparator* comparator = nullptr;
    return rocksdb::Comparator::CreateFromString(Strict(), value, &comparator);
  }
  return Make<rocksdb::TablePropertiesCollectorFactory>(value);
}

std::vector<std::string> ElementsOf(std::string_view text) {
  if (text.starts_with("{id=")) return {std::string(text)};  // one element without list braces
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  std::vector<std::string> elements;
  std::string element;
  int depth = 0;
  for (const char c : text) {
    depth += (c == '{') - (c == '}');
    if (c == ':' && depth == 0) {
      elements.push_back(std::move(element));
      element.clear();
    } else {
      element += c;
    }
  }
  if (!element.empty()) elements.push_back(std::move(element));
  return elements;
}

bool NamesBlocksieve(const std::string& value) {
  return value.starts_with("blocksieve") || value.find("id=blocksieve") != std::string::npos;
}

bool IsNone(const std::optional<std::string>& value) {
  return !value || value->empty() || *value == "nullptr";
}

std::string WithoutListener(const std::string& listeners) {
  std::vector<std::string> elements = ElementsOf(listeners);
  std::erase(elements, kListener);
  return ToText(elements);
}

std::string FamilySection(const std::string& family) {
  return fmt::format("CFOptions \"{}\"", family);
}

std::string TableSection(const std::string& family) {
  return fmt::format("TableOptions/BlockBasedTable \"{}\"", family);
}

void PutOption(const std::string& option, const std::vector<std::string>& families,
               OptionsFile* file) {
  const size_t equals = option.find('=');
  const std::string shown = term::Shown(option.empty() ? "''" : option);
  const std::string name = option.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
  if (value.empty()) {
    term::FailUsage("--option is {}; allowed: NAME=VALUE, with NAME one of {}", shown, kAllowed);
  }
  if (value.find_first_of("\r\n") != std::string::npos) {
    term::FailUsage("--option is {}; allowed: a value without line breaks", shown);
  }
  if (name == "listeners") return AddListeners(value, file);
  const bool is_policy = name == "filter_policy";
  const bool is_list = name == "table_properties_collectors";
  if (!is_policy && !is_list && name != "prefix_extractor") {
    term::FailUsage("--option is {}; allowed names: {}", shown, kAllowed);
  }
  for (const std::string& element : is_list ? ElementsOf(value) : std::vector{value}) {
    const rocksdb::Status status = StrictStatus(name, element);
    if (status.ok()) continue;
    term::FailUsage("--option is {}, which RocksDB refuses: {}", shown, status.ToString());
  }
  for (const std::string& family : families) {
    file->Set(is_policy ? TableSection(family) : FamilySection(family), name, value);
  }
  if (is_policy) PutNeeds(value, families, file);
}

std::string WhyNoFilterIsBuilt(const std::string& policy_value) {
  const auto policy = PolicyFrom(policy_value);
  const auto* const ours = rocksdb_plugin::As<rocksdb_plugin::Policy>(policy.get());
  if (ours == nullptr) return "";
  const FilterPolicyOptions& options = ours->options();
  const std::array<std::string_view, 1> key = {"key"};
  const Result<Filter> filter = Filter::Build(
      key, {.kind = rocksdb_plugin::FixedKind(options.kind).value_or(FilterKind::kBlockedBloom),
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

FilterPolicyOptions PolicyFor(const RateGoal& goal) {
  return {.target_fpr = goal.target_fpr,
          .wasted_reads = goal.wasted_reads,
          .bits_per_key = goal.bits_per_key};
}

std::pair<const char*, double> GoalOption(const FilterPolicyOptions& policy) {
  if (policy.wasted_reads) return {"wasted_reads", *policy.wasted_reads};
  if (policy.bits_per_key) return {"bits_per_key", *policy.bits_per_key};
  return {"target_fpr", policy.target_fpr.value()};
}

std::string GoalText(const FilterPolicyOptions& policy) {
  const auto [option, value] = GoalOption(policy);
  return fmt::format("{}={}", option, value);
}

std::string PartsText(const FilterPolicyOptions& policy) {
  if (policy.prefixes.empty()) return policy.ranges ? "range filters" : "";
  return policy.ranges ? "prefixes and range filters" : "prefixes";
}

std::string PolicyOption(const FilterPolicyOptions& policy) {
  std::string parts = policy.prefixes.empty() ? "" : ";prefixes=" + policy.prefixes;
  if (policy.range_fpr) parts += fmt::format(";ranges=true;range_fpr={}", *policy.range_fpr);
  return "filter_policy={id=blocksieve;" + GoalText(policy) + ";kind=auto" + parts + "}";
}

bool HasOptions(const FilterPolicyOptions& wanted, const std::string& database,
                const std::vector<std::string>& families) {
  std::optional<OptionsFile> file = OptionsFile::FindLatest(database);
  if (!file) return false;
  const std::string policy = PolicyOption(wanted);
  const std::string value = policy.substr(policy.find('=') + 1);
  for (const std::string& family : families) {
    const auto current = file->Find(TableSection(family), "filter_policy");
    if (!IsSamePolicy(current.value_or(""), value)) return false;
  }
  PutNeeds(value, families, &*file);
  return file->Changes().empty();
}

std::string StepsText(const FilterPolicyOptions& policy, bool has_options,
                      const std::string& database, const std::vector<std::string>& families,
                      const std::optional<std::string>& only) {
  const std::string option = PolicyOption(policy);
  const bool needs_listener = rocksdb_plugin::GoalOf(policy).differs_by_run();
  const bool needs_extractor = rocksdb_plugin::NeedsExtractor(policy);
  const std::string db = ShellWord(database) + (only ? " --column-family " + ShellWord(*only) : "");
  int step = 0;
  std::string text;
  if (!has_options) {
    text += fmt::format("{}. Set these options in the OPTIONS file of the database:\n", ++step);
    if (needs_listener) text += "       [DBOptions]\n         listeners={blocksieve}\n";
    for (const std::string& family : families) {
      if (needs_extractor) {
        text += fmt::format("       [{}]\n         prefix_extractor={}\n", FamilySection(family),
                            rocksdb_plugin::RangeExtractor::kName);
      }
      text += fmt::format("       [{}]\n         {}\n", TableSection(family), option);
    }
    text += fmt::format(
        "   This command does it, and keeps the old file:\n"
        "     blocksieve apply --db {} --option {}\n",
        db, ShellWord(option));
    if (needs_listener) {
      text += "   The listener reports the sizes of levels to the policy.\n";
    }
  }
  const auto [goal, value] = GoalOption(policy);
  std::string fields = fmt::format(".{} = {}", goal, value);
  if (policy.range_fpr) {
    fields += fmt::format(", .ranges = true, .range_fpr = {}", *policy.range_fpr);
  }
  if (!policy.prefixes.empty()) fields += fmt::format(", .prefixes = \"{}\"", policy.prefixes);
  text += fmt::format(
      "{}. A program that loads the OPTIONS file (LoadLatestOptions) needs the plug-in, linked or\n"
      "   preloaded (LD_PRELOAD). Other programs set the options in code and link "
      "blocksieve::rocksdb:\n"
      "     blocksieve::EnableFilter(&options, {{{}}});\n",
      ++step, fields);
  if (needs_extractor) {
    text += "   Seeks need an upper bound: blocksieve::PrepareRangeRead(&bound, &read_options);\n";
  }
  if (!has_options) text += fmt::format("{}. Close the database and open it again.\n", ++step);
  text += fmt::format(
      "{}. A file gets its new filter when a compaction rewrites it. To rewrite all such files "
      "now,\n"
      "   while no process has the database open:\n"
      "     blocksieve rewrite --db {}\n"
      "   To restore stock filters:\n"
      "     blocksieve revert --db {}\n",
      ++step, db, db);
  return text;
}

}  // namespace blocksieve::cli
