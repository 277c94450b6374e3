#include <fmt/format.h>
#include <fmt/ranges.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/utilities/object_registry.h>
#include <rocksdb/utilities/options_util.h>
#include <rocksdb/version.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "integration/cli/commands/options.h"
#include "integration/cli/database/database.h"
#include "integration/cli/database/file_choice.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/database/level_summary.h"
#include "integration/cli/database/stored_options.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/streams.h"
#include "integration/cli/term/text.h"
#include "integration/cli/term/text_table.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve::cli {
namespace {

constexpr const char* kCheckFooter =
    R"help(Looks for what RocksDB accepts in silence. It takes a name in an OPTIONS file that nobody registered,
such as blocksive:0.01, for no object at all, and writes files without filters; the next OPTIONS file
then has nullptr. Checked are the names of filter policies, prefix extractors, collectors of table
properties and listeners, the options of each, and what has to stand beside a policy of blocksieve. Of a
database also the files: those that lack filters are counted. Nothing is written, and another process
may have the database open.

  accepted  yes: RocksDB or blocksieve makes it of what is written; no: only a program that registers it,
            or makes it in its code, has it; -: none is named

Extractors, collectors and listeners of the program are not accepted here, which is a problem only where
RocksDB then does not make blocksieve's.

Examples:
  blocksieve check --db paths.db
  blocksieve check --options-file paths.db/OPTIONS-000007 --format json | jq .problems

Exit codes: 0 nothing is wrong; 1 something is; 2 wrong arguments.)help";

struct CheckOptions {
  std::string database;
  std::string options_file;
  std::optional<std::string> family;
  OutputFormat format = OutputFormat::kText;
};

/// What an option names. `family` is empty for options of the database, `value` if it is nothing.
struct Named {
  std::string family;
  std::string option;
  std::string value;
  bool is_accepted = false;
};

struct Findings {
  OptionsFile file;
  std::vector<Named> named;
  std::vector<std::string> problems;
};

/// An option that names objects.
struct ObjectOption {
  const char* name;
  const char* type;         ///< As RocksDB's registry calls it.
  const char* consequence;  ///< Of a name that is not registered.
};
const ObjectOption kPolicy = {"filter_policy", rocksdb::FilterPolicy::Type(),
                              "takes it for nullptr and writes files without filters"};
const ObjectOption kExtractor = {"prefix_extractor", rocksdb::SliceTransform::Type(),
                                 "takes it for nullptr"};
const ObjectOption kCollectors = {"table_properties_collectors",
                                  rocksdb::TablePropertiesCollectorFactory::Type(),
                                  "makes no collector, and files get no skip indexes"};
const ObjectOption kListeners = {"listeners", rocksdb::EventListener::Type(),
                                 "makes no listener, blocksieve's neither"};

// "blocksieve:0.01" of "{id=blocksieve:0.01;kind=auto;}"; empty if nothing is named.
std::string IdOf(std::string value) {
  if (value.starts_with('{')) value.erase(0, 1);
  if (value.starts_with("id=")) value.erase(0, 3);
  value.resize(std::min(value.find_first_of(";}"), value.size()));
  return value == "nullptr" ? "" : value;
}

std::string NameOf(const std::string& value) {
  const std::string id = IdOf(value);
  return id.substr(0, id.find(':'));
}

// The names that users may give.
std::vector<std::string> RegisteredNames(const ObjectOption& option) {
  std::vector<std::string> names;
  rocksdb::ObjectRegistry::NewInstance()->GetFactoryNames(option.type, &names);
  std::erase_if(names, [](const std::string& name) {
    return name.starts_with("rocksdb.") || name == rocksdb_plugin::RangeExtractor::kMarkedName;
  });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

class Checker {
 public:
  explicit Checker(OptionsFile file) : findings_{std::move(file), {}, {}} {
    CheckOption("", kDbSection, kListeners);
  }

  /// `options`: what RocksDB makes of the file; null if it does not load it.
  void CheckFamily(const std::string& family, const rocksdb::ColumnFamilyOptions* options) {
    if (!CheckOption(family, TableSection(family), kPolicy)) {
      Report(family,
             "filter_policy is nullptr, which RocksDB also writes after it dropped a name: new "
             "files get no filters. Give one, such as blocksieve:0.01");
    }
    CheckOption(family, FamilySection(family), kExtractor);
    CheckOption(family, FamilySection(family), kCollectors);
    const rocksdb_plugin::Policy* const policy = options == nullptr ? nullptr : PolicyOf(*options);
    if (policy == nullptr) return;
    const FilterPolicyOptions& filter = policy->options();
    const std::string listeners = findings_.file.Find(kDbSection, kListeners.name).value_or("{}");
    if (rocksdb_plugin::GoalOf(filter).differs_by_run() &&
        WithoutListener(listeners) == listeners) {
      Report(family, fmt::format("filter_policy has {}, which needs the listener blocksieve, and "
                                 "listeners is {}. Add blocksieve to it",
                                 filter.wasted_reads ? "wasted_reads" : "bits_per_key", listeners));
    }
    const rocksdb::Status ranges =
        filter.ranges ? rocksdb_plugin::CheckRangeOptions(*options, /*check_extractor=*/true)
                      : rocksdb::Status::OK();
    if (!ranges.ok()) Report(family, fmt::format("filter_policy: {}", ranges.getState()));
  }

  /// `family` is empty if it is a problem of all.
  void Report(const std::string& family, const std::string& problem) {
    findings_.problems.push_back(family.empty() ? problem : family + ": " + problem);
  }

  const Findings& findings() const { return findings_; }

 private:
  // Whether it names something.
  bool CheckOption(const std::string& family, const std::string& section,
                   const ObjectOption& option) {
    const std::string value = findings_.file.Find(section, option.name).value_or("");
    const bool is_list = &option == &kCollectors || &option == &kListeners;
    const std::vector<std::string> values = is_list ? ElementsOf(value) : std::vector{value};
    const bool has_ours = std::any_of(values.begin(), values.end(), [](const auto& each) {
      return NameOf(each).starts_with("blocksieve");
    });
    bool names_something = false;
    for (const std::string& each : values) {
      if (IdOf(each).empty()) continue;
      names_something = true;
      const rocksdb::Status status = StrictStatus(option.name, each);
      findings_.named.push_back({family, option.name, each, status.ok()});
      if (!status.ok()) ReportUnknown(findings_.named.back(), option, status, has_ours);
    }
    if (!names_something) findings_.named.push_back({family, option.name, "", false});
    return names_something;
  }

  void ReportUnknown(const Named& named, const ObjectOption& option, const rocksdb::Status& status,
                     bool has_ours) {
    const std::vector<std::string> names = RegisteredNames(option);
    const std::string name = NameOf(named.value);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return Report(named.family, fmt::format("{} is {}, of which RocksDB drops in silence what it "
                                              "does not take: {}",
                                              option.name, named.value, status.ToString()));
    }
    const std::string meant = term::Nearest(name, names);
    // Programs make objects of their own, too; of policies it is told because all filters are at
    // stake.
    if (&option != &kPolicy && !has_ours && !meant.starts_with("blocksieve")) return;
    Report(
        named.family,
        fmt::format(
            "{} is {}, which is not registered here: RocksDB {}, in silence. {}Known are {}",
            option.name, named.value, option.consequence,
            meant.empty() ? "" : fmt::format("Did you mean {}? ", meant), fmt::join(names, ", ")));
  }

  Findings findings_;
};

void CheckFiles(const CheckOptions& options, Checker* checker) {
  FileChoice choice;
  choice.db = options.database;
  ChosenFiles::Missed missed;
  auto files = FindFiles(choice).ReadReports("checking", &missed);
  std::erase_if(files, [&](const FileReport& file) {
    return options.family && file.place.family != *options.family;
  });
  const FilterSummary without = FilesWithoutPlugin(files, options.database);
  if (without.num_files != 0) {
    checker->Report(
        "", fmt::format("{} with {} written without the plug-in, so without filters. Where no "
                        "process has the database open: blocksieve rewrite --db {} --only-without",
                        term::CountOf(without.num_files, "file"),
                        term::CountOf(without.num_entries, "key"), ShellWord(options.database)));
  }
  for (const std::string& problem : missed.unopened) checker->Report("", problem);
}

// What RocksDB makes of the file if it leaves out the names that it does not know.
std::vector<rocksdb::ColumnFamilyDescriptor> LoadFamilies(const std::string& path,
                                                          Checker* checker) {
  rocksdb::ConfigOptions lenient;
  lenient.ignore_unknown_options =
      true;  // still, RocksDB refuses those that its version should know
  lenient.ignore_unsupported_options = true;
  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  const rocksdb::Status status = rocksdb::LoadOptionsFromFile(lenient, path, &db, &families);
  if (!status.ok()) {
    checker->Report("", fmt::format("RocksDB {} does not load it: {}",
                                    rocksdb::GetRocksVersionAsString(), status.ToString()));
  }
  return families;
}

OptionsFile ReadOptionsFile(const std::string& path) {
  std::string text;
  const rocksdb::Status status = rocksdb::ReadFileToString(rocksdb::Env::Default(), path, &text);
  if (!status.ok()) term::Fail("cannot read {}: {}", path, status.ToString());
  return OptionsFile(std::move(text), path);
}

std::string ToText(const Findings& findings) {
  std::string text =
      fmt::format("{}, written by RocksDB {}, read by {}\n\n", findings.file.name(),
                  findings.file.Find("Version", "rocksdb_version").value_or("of unknown version"),
                  rocksdb::GetRocksVersionAsString());
  term::TextTable table({"family", "option", "names", "accepted"});
  for (const Named& named : findings.named) {
    const bool is_none = named.value.empty();
    table.AddRow({named.family.empty() ? "-" : named.family, named.option,
                  is_none ? "-" : IdOf(named.value),
                  is_none             ? "-"
                  : named.is_accepted ? "yes"
                                      : "no"});
  }
  text += table.ToString() + "\n";
  for (const std::string& problem : findings.problems) text += problem + "\n";
  return findings.problems.empty() ? text + "Nothing is wrong.\n" : text;
}

std::string ToJson(const CheckOptions& options, const Findings& findings) {
  nlohmann::ordered_json document = {{"options_file", findings.file.name()}};
  if (!options.database.empty()) document["database"] = options.database;
  auto& named = document["named"] = nlohmann::ordered_json::array();
  for (const Named& each : findings.named) {
    named.push_back({{"family", each.family}, {"option", each.option}, {"value", each.value}});
    named.back()["accepted"] = each.value.empty() ? nlohmann::ordered_json(nullptr)
                                                  : nlohmann::ordered_json(each.is_accepted);
  }
  document["problems"] = findings.problems;
  return JsonLine(document);
}

void RunCheck(const CheckOptions& options) {
  const bool is_file = !options.options_file.empty();
  if (is_file == !options.database.empty()) {
    term::FailUsage("either --db or --options-file is required");
  }
  if (!is_file) CheckDatabase(options.database);
  Checker checker(is_file ? ReadOptionsFile(options.options_file)
                          : OptionsFile::Latest(options.database));
  const OptionsFile& file = checker.findings().file;
  const auto loaded =
      LoadFamilies(is_file ? file.name() : options.database + "/" + file.name(), &checker);
  for (const std::string& family : file.Families(options.family)) {
    const auto found = std::find_if(loaded.begin(), loaded.end(),
                                    [&](const auto& each) { return each.name == family; });
    checker.CheckFamily(family, found == loaded.end() ? nullptr : &found->options);
  }
  if (!is_file) CheckFiles(options, &checker);
  const Findings& findings = checker.findings();
  term::WriteToStandardOutput(options.format == OutputFormat::kJson ? ToJson(options, findings)
                                                                    : ToText(findings));
  if (const size_t problems = findings.problems.size(); problems != 0) {
    term::Fail("{} found", term::CountOf(problems, "problem"));
  }
}

}  // namespace

void AddCheckCommand(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddSubcommand(app, action, "check", "Find filters that options name and nobody builds",
                    kCheckFooter, RunCheck);
  auto* const database =
      AddOption(command, &options->database, {"--db", "DIR", "the directory of a database"});
  Exclude(AddOption(command, &options->options_file,
                    {"--options-file", "FILE", "or an OPTIONS file, also of no database"}),
          database);
  AddOption(command, &options->family,
            {"--column-family", "NAME", "only this column family (default all)"});
  AddFormatOption(command, &options->format);
}

}  // namespace blocksieve::cli
