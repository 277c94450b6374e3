#include "integration/cli/database/stored_options.h"

#include <fmt/format.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/object_registry.h>
#include <rocksdb/utilities/options_util.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/cli/database/filter_options.h"
#include "integration/cli/database/options_file.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/streams.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_collector.h"
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

StoredOptions DefaultOptions(const std::string& path) {
  std::vector<std::string> names;
  const rocksdb::Status status = rocksdb::DB::ListColumnFamilies({}, path, &names);
  if (!status.ok()) term::Fail("cannot open database {}: {}", path, status.ToString());
  StoredOptions options;
  for (const std::string& name : names) options.families.emplace_back(name, rocksdb::Options());
  return options;
}

// Another process may write a new OPTIONS file and delete the old one before it was read.
rocksdb::Status LoadOptions(const rocksdb::ConfigOptions& config, const std::string& path,
                            StoredOptions* options) {
  constexpr int kMaxTries = 3;
  rocksdb::Status status;
  for (int tries = 0; tries < kMaxTries; ++tries) {
    *options = {};
    status = rocksdb::LoadLatestOptions(config, path, &options->db, &options->families);
    if (status.ok() || status.IsNotFound()) break;
  }
  return status;
}

// RocksDB ignores a policy that it does not know, builds no filters, and stores nullptr.
void CheckFilterPolicies(const std::string& path, const StoredOptions& options) {
  const OptionsFile file = OptionsFile::Latest(path);
  for (const rocksdb::ColumnFamilyDescriptor& family : options.families) {
    if (family.options.table_factory == nullptr) continue;
    const auto* const table =
        family.options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    const auto policy = file.Find(TableSection(family.name), "filter_policy");
    if (table == nullptr || table->filter_policy != nullptr || !policy || *policy == "nullptr" ||
        policy->empty()) {
      continue;
    }
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

StoredOptions ReadStoredOptions(const std::string& path, bool strict) {
  RegisterCollectorName();
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = !strict;
  config.ignore_unsupported_options = !strict;
  StoredOptions options;
  const rocksdb::Status status = LoadOptions(config, path, &options);
  if (status.IsNotFound()) return DefaultOptions(path);
  if (!status.ok() && strict) {
    term::Fail("cannot read the options of database {}: {}", path, status.ToString());
  }
  if (!status.ok()) {
    WarnOnce(fmt::format("cannot read the options of database {}: {}; using default options", path,
                         status.ToString()));
    return DefaultOptions(path);
  }
  if (strict) CheckFilterPolicies(path, options);
  for (rocksdb::ColumnFamilyDescriptor& family : options.families) {
    RemoveCollectorsOfUnknownColumns(&family.options);
  }
  return options;
}

const rocksdb_plugin::Policy* PolicyOf(const rocksdb::ColumnFamilyOptions& family) {
  const auto* const table = family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr) return nullptr;
  return rocksdb_plugin::As<rocksdb_plugin::Policy>(table->filter_policy.get());
}

void AddListener(rocksdb::DBOptions* options) {
  const auto listener = NewListener();
  const auto is_same = [&](const std::shared_ptr<rocksdb::EventListener>& other) {
    return other != nullptr && std::string_view(other->Name()) == listener->Name();
  };
  auto& listeners = options->listeners;
  if (std::none_of(listeners.begin(), listeners.end(), is_same)) listeners.push_back(listener);
}

}  // namespace blocksieve::cli
