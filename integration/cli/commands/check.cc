// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/utilities/object_registry.h>

#include <algorithm>
#include <set>

#include "integration/cli/advise/advice.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/database/filter_options.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/user_index.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve::cli {
namespace {

using rocksdb_plugin::NamedObject;
using rocksdb_plugin::ParseId;

constexpr const char* kCheckFooter =
    R"help(Finds names and options that RocksDB silently ignores. If an OPTIONS file names an unregistered
policy, such as blocksive:0.01, RocksDB writes files without filters, and the next OPTIONS file has
nullptr. check covers filter policies, prefix extractors, table properties collectors, listeners and
what else a blocksieve policy needs. For a database, it also counts the files without a filter that
the policy reads, as inspect --fail-if does. The filters of kind=stock work in every RocksDB, but a
program without the plug-in writes none, too.

  accepted  yes: RocksDB or blocksieve can create the object; no: only the program that registers or
            creates it can, which is a problem only for policies, and if the same option names one of
            blocksieve's: RocksDB then ignores both; -: the option names no object

Examples:
  blocksieve check --db paths.db
  blocksieve check --options-file paths.db/OPTIONS-000007 --format json | jq .problems)help";

struct Findings {
  StoredDatabase stored;
  /// The objects that options name. `family` is empty for options of the database, `value` if the
  /// option names none.
  Json named = Json::array();
  std::vector<std::string> problems = {};
  std::vector<std::string> notes = {};
  std::string no_filter_pays = {};  // why, as in advise
  bool has_keys = false;            // if they could be counted

  /// `family` is empty if the problem concerns all of them.
  void Report(const std::string& family, const std::string& problem) {
    problems.push_back(family.empty() ? problem : family + ": " + problem);
  }
};

/// An option that names objects.
struct ObjectOption {
  const char* name;
  const char* type;         ///< Its name in RocksDB's registry.
  const char* consequence;  ///< What RocksDB does if the name is not registered.
  bool is_list = false;
};
const ObjectOption kPolicy = {"filter_policy", rocksdb::FilterPolicy::Type(),
                              "silently uses nullptr and writes files without filters"};
const ObjectOption kExtractor = {"prefix_extractor", rocksdb::SliceTransform::Type(),
                                 "silently uses nullptr"};
const ObjectOption kCollectors = {
    "table_properties_collectors", rocksdb::TablePropertiesCollectorFactory::Type(),
    "silently creates no collector, and files get no skip indexes", true};
const ObjectOption kBlockIndex = {"user_defined_index_factory", "UserDefinedIndexFactory",
                                  "silently uses nullptr, and files get no block indexes"};
const ObjectOption kListeners = {"listeners", rocksdb::EventListener::Type(),
                                 "silently creates no listener, not even blocksieve's", true};

// The names that users may write.
std::set<std::string> RegisteredNames(const ObjectOption& option) {
  std::vector<std::string> all;
  rocksdb::ObjectRegistry::NewInstance()->GetFactoryNames(option.type, &all);
  std::set<std::string> names(all.begin(), all.end());
  std::erase_if(names, [](const std::string& name) {
    return name.starts_with("rocksdb.") || name == rocksdb_plugin::RangeExtractor::kMarkedName;
  });
  return names;
}

void ReportRefused(const ObjectOption& option, const NamedObject& object, bool is_among_ours,
                   Findings* findings) {
  const std::set<std::string> names = RegisteredNames(option);
  const std::string id = ParseId(object.value);
  const std::string name = id.substr(0, id.find(':'));
  if (names.contains(name)) {
    return findings->Report(
        object.family, fmt::format("{} is {}; RocksDB silently ignores part of it: {}", option.name,
                                   object.value, object.reason));
  }
  // OPTIONS files also name objects that programs create in code; policies are rarely among them,
  // and blocksieve's may be misspelt.
  if (&option != &kPolicy && !is_among_ours && !name.starts_with("block")) return;
  findings->Report(
      object.family,
      fmt::format("{} is {}, which is not registered: RocksDB {}. Registered: {}", option.name,
                  object.value, option.consequence, fmt::join(names, ", ")));
}

// Why a policy of RocksDB builds no filters, though RocksDB knows its name; "" if it does.
std::string WhyNothingIsBuilt(const std::string& policy) {
  constexpr const char* kRemedy =
      "; programs that load this file write files without filters. Set a policy, such as "
      "bloomfilter:10:false or blocksieve:0.01";
  const auto kind = rocksdb_plugin::Judge(policy).kind;
  if (kind == rocksdb_plugin::PolicyEffect::kOnlyReads) {
    return std::string("which only reads filters, and builds none, since RocksDB 7.0") + kRemedy;
  }
  return kind != rocksdb_plugin::PolicyEffect::kStockWithoutBits
             ? ""
             : std::string("without the bits per key, as RocksDB's C API leaves it") + kRemedy;
}

// Returns whether the option names something.
bool CheckOption(const ObjectOption& option, const OptionsSection& section, Findings* findings) {
  const std::string& family = section.family;
  const std::string value = findings->stored.Value(section, option.name).value_or("");
  auto values = option.is_list ? rocksdb_plugin::SplitList(value) : std::vector{value};
  std::erase_if(values, IsNone);
  std::vector<NamedObject> lost = findings->stored.loaded.objects;
  std::erase_if(lost, [&](const NamedObject& object) {
    return object.family != family || object.option != option.name;
  });
  for (NamedObject& object : lost) object.value = OptionsText::Unescape(object.value);
  const bool is_among_ours = std::ranges::any_of(lost, NamesBlocksieve, &NamedObject::value);
  const auto add = [&](const std::string& each, const Json& is_accepted) {
    findings->named.push_back(
        {{"family", family}, {"option", option.name}, {"value", each}, {"accepted", is_accepted}});
  };
  for (const std::string& each : values) {
    const auto refused = std::ranges::find_if(lost, [&](const NamedObject& object) {
      return object.value == each && object.reason != rocksdb_plugin::kLeftOutWithOthers;
    });
    const std::string why = &option == &kPolicy ? WhyNothingIsBuilt(each) : "";
    // A RocksDB without block indexes does not look at the value.
    const bool is_unknown = &option == &kBlockIndex && BLOCKSIEVE_HAS_USER_INDEX == 0;
    add(each, refused == lost.end() && why.empty() && !is_unknown);
    if (!why.empty()) {
      findings->Report(family, fmt::format("filter_policy is {}, {}", each, why));
    } else if (refused != lost.end()) {
      ReportRefused(option, *refused, is_among_ours, findings);
    }
  }
  if (values.empty()) add("", nullptr);
  return !values.empty();
}

// Checks the listener and the extractor that a policy of blocksieve needs.
void CheckDependencies(const rocksdb::ColumnFamilyDescriptor& family, Findings* findings) {
  const rocksdb_plugin::Policy* const policy = FindPolicy(family.options);
  if (policy == nullptr) return;
  const EnableOptions& filter = policy->options();
  const std::string why = WhyNoFilterIsBuilt(findings->stored.Policy(family.name));
  if (!why.empty()) findings->Report(family.name, why);
  const std::string listeners =
      findings->stored.Value(OptionsSection::Db(), kListeners.name).value_or("{}");
  if (rocksdb_plugin::ToGoal(filter).differs_by_run() && WithoutListener(listeners) == listeners) {
    findings->Report(family.name,
                     fmt::format("filter_policy has {}, which needs the listener blocksieve, but "
                                 "listeners is {}; add blocksieve to it",
                                 GoalOption(filter).first, listeners));
  }
  const rocksdb::Status opens = rocksdb_plugin::CheckRangeOptions(filter, family.options, true);
  if (!opens.ok()) {
    findings->Report(family.name,
                     "RocksDB does not open the database: " + rocksdb_plugin::ToMessage(opens));
  }
}

// Whether RocksDB reads the family by its block index alone.
bool HasPrimaryIndex(const StoredDatabase& stored, const std::string& family) {
  const auto table = OptionsSection::Table(family);
  return BLOCKSIEVE_HAS_USER_INDEX != 0 && NamesBlocksieve(stored.Value(table, kBlockIndex.name)) &&
         stored.Value(table, "use_udi_as_primary_index") == "true";
}

void CheckOptionsFile(Findings* findings) {
  const StoredDatabase& stored = findings->stored;
  if (stored.loaded.is_newer) {
    findings->Report("", fmt::format("RocksDB {} wrote the file, and {} ignores options of later "
                                     "versions",
                                     stored.loaded.version, rocksdb::GetRocksVersionAsString()));
  }
  if (!stored.problem.empty()) return findings->Report("", stored.problem);
  CheckOption(kListeners, OptionsSection::Db(), findings);
  // Which other families, or later files, may lack.
  const bool had_policy = std::ranges::any_of(stored.Families(), [&](const std::string& family) {
    return rocksdb_plugin::FindNamedPolicy(rocksdb::Env::Default(), stored.target, family)
        .has_value();
  });
  for (const std::string& family : stored.TargetFamilies()) {
    if (!CheckOption(kPolicy, OptionsSection::Table(family), findings) &&
        (findings->no_filter_pays.empty() || had_policy)) {
      findings->Report(family,
                       "filter_policy is nullptr, so new files get no filters; RocksDB also writes "
                       "nullptr after it ignored a name. Set a policy, such as blocksieve:0.01");
    }
    const auto table = OptionsSection::Table(family);
    if (!IsNone(stored.Value(table, kBlockIndex.name))) CheckOption(kBlockIndex, table, findings);
    if (HasPrimaryIndex(stored, family)) {
      findings->notes.push_back(
          family +
          ": the block index is primary: RocksDB opens no file without it, and processes without "
          "the plug-in cannot open the database; use_udi_as_primary_index=false ends that");
    }
    CheckOption(kExtractor, OptionsSection::Family(family), findings);
    CheckOption(kCollectors, OptionsSection::Family(family), findings);
  }
  for (const auto& family : stored.loaded.families) {
    if (stored.target.Has(family.name)) CheckDependencies(family, findings);
  }
}

void CheckStoredFiles(Findings* findings) {
  const Target& target = findings->stored.target;
  TargetFiles files = FindFiles(target);
  const std::vector<FileReport> reports = files.ReadReports("checking");
  if (files.unopened.empty()) {
    const Forest forest = BuildForest(reports);
    findings->has_keys = !forest.trees.empty();
    findings->no_filter_pays =
        WhyNoFilterPays(forest, 1, WhyCacheIsEnough(FileBytes(target), CacheBytes(target)));
  }
  CheckOptionsFile(findings);
  const std::string unfiltered = FindUnfiltered(reports, target, " ", " && ").text;
  if (!unfiltered.empty()) findings->Report("", unfiltered);
  for (const std::string& family : findings->stored.TargetFamilies()) {
    const auto lacking = std::ranges::count_if(reports, [&](const FileReport& file) {
      return file.place.family == family && file.index.place != rocksdb_plugin::kBlockIndexPlace;
    });
    if (lacking == 0 || !HasPrimaryIndex(findings->stored, family)) continue;
    findings->Report(family,
                     term::CountOf(static_cast<uint64_t>(lacking), "file") +
                         " without the primary block index, so RocksDB does not open the database; "
                         "set use_udi_as_primary_index=false");
  }
  for (const std::string& problem : files.unopened) findings->Report("", problem);
}

std::string ToText(const Findings& findings) {
  std::string text =
      fmt::format("{}, written by RocksDB {}, read by {}\n\n", findings.stored.text->name(),
                  findings.stored.Value(OptionsSection::Version(), "rocksdb_version")
                      .value_or("of an unknown version"),
                  rocksdb::GetRocksVersionAsString());
  const auto or_dash = [](const std::string& name) { return name.empty() ? "-" : name; };
  text +=
      TableText({{"family", "/family", or_dash},
                 {"option", "/option", PlainText},
                 {"object", "/value", [&](const std::string& id) { return or_dash(ParseId(id)); }},
                 {"accepted", "/accepted", [](bool accepted) { return accepted ? "yes" : "no"; }}},
                findings.named) +
      "\n";
  for (const std::string& problem : findings.problems) text += problem + "\n";
  if (findings.problems.empty()) text += "No problem found.\n";
  for (const std::string& note : findings.notes) text += note + "\n";
  if (findings.no_filter_pays.empty()) return text;
  return text + (findings.has_keys ? "No filter pays here: " : "No verdict on filters: ") +
         findings.no_filter_pays + ".\n";
}

void RunCheck(const TargetOptions& options) {
  const Target& target = options.target;  // its file: --options-file
  const bool has_database = !target.path.empty();
  if (target.file.empty() != has_database) {
    term::FailUsage("neither --db nor --options-file is given; required: one of them");
  }
  if (has_database) FailIfOfLevelDb(target);
  Findings findings = {has_database ? ReadStored(target)
                                    : WithText(target, ReadOptionsText(target.file))};
  FailIfNoText(findings.stored);
  if (has_database) {
    CheckStoredFiles(&findings);
  } else {
    CheckOptionsFile(&findings);
  }
  Json document = {{"options_file", findings.stored.text->name()}};
  if (has_database) document["database"] = target.path;
  document.update(
      {{"named", findings.named}, {"problems", findings.problems}, {"notes", findings.notes}});
  WriteReport(options.format, document, ToText(findings));
  if (const size_t problems = findings.problems.size(); problems != 0) {
    term::Fail("{} found", term::CountOf(problems, "problem"));
  }
}

}  // namespace

void AddCheckCommand(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddSubcommand(app, action, "check", "Find filter options that RocksDB silently ignores",
                    kCheckFooter, RunCheck);
  AddTargetOptions(command, options, Subject::kAny);
  AddOption(command, &options->target.file, "--options-file FILE",
            "an OPTIONS file, instead of a database");
  Exclude(command, "--options-file", {"--db"});
}

}  // namespace blocksieve::cli
