#include "integration/cli/database/open_database.h"

#include <fmt/format.h>
#include <rocksdb/env.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/object_registry.h>
#include <rocksdb/utilities/options_util.h>

#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/streams.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/listener/listener.h"
#include "integration/rocksdb/policy/policy.h"

namespace blocksieve::cli {
namespace {

using rocksdb::TablePropertiesCollectorFactory;
using rocksdb_plugin::SkipIndexCollectorFactory;

// OPTIONS files name the skip index collector, but not always its columns. Strict reading requires
// a registered name; the collector that RocksDB then creates is removed again.
void RegisterCollectorName() {
  static const auto registered =
      rocksdb::ObjectLibrary::Default()->AddFactory<TablePropertiesCollectorFactory>(
          SkipIndexCollectorFactory::kName,
          [](const std::string&, std::unique_ptr<TablePropertiesCollectorFactory>* guard,
             std::string*) {
            *guard = std::make_unique<SkipIndexCollectorFactory>(SkipIndexOptions());
            return guard->get();
          });
}

void RemoveCollectorsOfUnknownColumns(rocksdb::ColumnFamilyOptions* options) {
  std::erase_if(options->table_properties_collector_factories, [](const auto& factory) {
    return factory == nullptr ||
           rocksdb_plugin::As<SkipIndexCollectorFactory>(factory.get()) != nullptr;
  });
}

/// Takes the place of a merge operator that this program does not have, and merges nothing.
class KeepOperands final : public rocksdb::MergeOperator {
 public:
  explicit KeepOperands(std::string name) : name_(std::move(name)) {}
  const char* Name() const override { return name_.c_str(); }
  bool FullMergeV2(const MergeOperationInput&, MergeOperationOutput* output) const override {
    rocksdb_plugin::CopyOperands(output);
    return false;
  }

 private:
  const std::string name_;
};

using NamesByFamily = std::map<std::string, std::string>;

NamesByFamily ForeignMergeOperatorsIn(const OptionsFile& file) {
  NamesByFamily foreign;
  for (const std::string& family : file.Families()) {
    const auto name = file.Find(FamilySection(family), "merge_operator");
    if (!IsNone(name) && !StrictStatus("merge_operator", *name).ok()) foreign[family] = *name;
  }
  return foreign;
}

// Parses strictly, but keeps the names of foreign merge operators, which RocksDB writes to OPTIONS.
rocksdb::Status ParseStrictly(OptionsFile file, StoredOptions* options) {
  const NamesByFamily foreign = ForeignMergeOperatorsIn(file);
  for (const auto& [family, name] : foreign) {
    file.Set(FamilySection(family), "merge_operator", "nullptr");
  }
  rocksdb::Status status = ParseOptions(file, /*strict=*/true, options);
  for (rocksdb::ColumnFamilyDescriptor& family : options->families) {
    const auto name = foreign.find(family.name);
    if (name == foreign.end()) continue;
    family.options.merge_operator = std::make_shared<KeepOperands>(name->second);
  }
  return status;
}

StoredOptions DefaultOptions(const std::string& path) {
  std::vector<std::string> names;
  const rocksdb::Status status = rocksdb::DB::ListColumnFamilies({}, path, &names);
  if (!status.ok()) term::Fail("cannot open database {}: {}", path, status.ToString());
  StoredOptions options;
  for (const std::string& name : names) options.families.emplace_back(name, rocksdb::Options());
  return options;
}

// RocksDB ignores a policy that it does not know, builds no filters, and stores nullptr. Of a
// policy whose options it refuses, such as prefixes of a callback that another program registered,
// it uses and stores the default options.
void CheckFilterPolicies(const std::string& path, const OptionsFile& file,
                         const StoredOptions& options) {
  for (const rocksdb::ColumnFamilyDescriptor& family : options.families) {
    if (family.options.table_factory == nullptr) continue;
    const auto* const table =
        family.options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    const auto policy = file.Find(TableSection(family.name), "filter_policy");
    if (table == nullptr || IsNone(policy)) continue;
    if (NamesBlocksieve(*policy)) {
      const rocksdb::Status status = StrictStatus("filter_policy", *policy);
      if (!status.ok()) {
        term::Fail(
            "database {} has filter_policy {} in column family {}, which RocksDB refuses: {}; it "
            "would write files with other filters",
            path, *policy, family.name, status.ToString());
      }
    }
    if (table->filter_policy != nullptr) continue;
    term::Fail(
        "database {} has filter_policy {} in column family {}, which this program does not have; "
        "it would write files without filters",
        path, *policy, family.name);
  }
}

// A command may read the options several times.
void WarnOnce(const std::string& text) {
  static std::set<std::string> said;
  if (said.insert(text).second) term::WriteToStandardError("blocksieve: " + text + "\n");
}

}  // namespace

rocksdb::Status ParseOptions(const OptionsFile& file, bool strict, StoredOptions* options) {
  RegisterCollectorName();
  const std::unique_ptr<rocksdb::Env> memory(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = !strict;
  config.ignore_unsupported_options = !strict;
  config.env = memory.get();
  const std::string path = "/" + file.name();
  rocksdb::Status status = rocksdb::WriteStringToFile(memory.get(), file.text(), path);
  if (!status.ok()) return status;
  return rocksdb::LoadOptionsFromFile(config, path, &options->db, &options->families);
}

void CheckComparators(const std::string& path, const OptionsFile& file) {
  for (const std::string& family : file.Families()) {
    const std::string name = file.Find(FamilySection(family), "comparator").value_or("");
    if (name.empty() || StrictStatus("comparator", name).ok()) continue;
    term::Fail(
        "column family {} of database {} has comparator {}, which only its own program has, so no "
        "other program can open the database; set filter options in that program",
        family, path, name);
  }
}

StoredOptions ReadStoredOptions(const std::string& path, bool strict) {
  std::optional<OptionsFile> file;
  std::string problem;
  StoredOptions options;
  try {
    file = OptionsFile::FindLatest(path);
    if (!file) return DefaultOptions(path);
    const rocksdb::Status status =
        strict ? ParseStrictly(*file, &options) : ParseOptions(*file, strict, &options);
    if (!status.ok()) problem = status.ToString();
  } catch (const term::Failure& failure) {
    problem = failure.what();
  }
  if (file) CheckComparators(path, *file);
  if (!problem.empty() && strict) {
    term::Fail("cannot read the options of database {}: {}", path, problem);
  }
  if (!problem.empty()) {
    WarnOnce(fmt::format("cannot read the options of database {}: {}; using default options", path,
                         problem));
    return DefaultOptions(path);
  }
  if (strict) CheckFilterPolicies(path, *file, options);
  for (rocksdb::ColumnFamilyDescriptor& family : options.families) {
    RemoveCollectorsOfUnknownColumns(&family.options);
  }
  return options;
}

std::map<std::string, std::string> ForeignMergeOperators(const std::string& path) {
  const auto file = OptionsFile::FindLatest(path);
  return file ? ForeignMergeOperatorsIn(*file) : NamesByFamily();
}

void AddListener(rocksdb::DBOptions* options) {
  if (!rocksdb_plugin::HasListener(*options)) options->listeners.push_back(NewListener());
}

}  // namespace blocksieve::cli
