#include "integration/cli/rocksdb/stored_database.h"

#include <fmt/format.h>
#include <rocksdb/env.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/object_registry.h>

#include <algorithm>
#include <cstdarg>
#include <filesystem>
#include <functional>
#include <set>
#include <system_error>

#include "integration/cli/rocksdb/filter_options.h"
#include "integration/cli/rocksdb/options_file.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/streams.h"
#include "integration/rocksdb/compat/class_by_name.h"
#include "integration/rocksdb/compat/open_db.h"
#include "integration/rocksdb/index/skip_index_collector.h"

namespace blocksieve::cli {
namespace {

class SilentLog : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

using rocksdb::TablePropertiesCollectorFactory;
using rocksdb_plugin::OpenDb;
using rocksdb_plugin::OpenedDb;
using rocksdb_plugin::SkipIndexCollectorFactory;

// OPTIONS files name the collector of skip indexes but do not say what it collects. Strict reading
// needs the name to be known; the collector that RocksDB makes of it is taken out again.
void MakeCollectorNameKnown() {
  static const auto made_known =
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

// Another process may write new options, and remove the old ones before they have been read.
rocksdb::Status LoadOptions(const rocksdb::ConfigOptions& config, const std::string& path,
                            StoredOptions* options) {
  constexpr int kMostTries = 3;
  rocksdb::Status status;
  for (int tries = 0; tries < kMostTries; ++tries) {
    *options = {};
    status = rocksdb::LoadLatestOptions(config, path, &options->db, &options->families);
    if (status.ok() || status.IsNotFound()) break;
  }
  return status;
}

// RocksDB passes over a policy that it does not know, builds no filters, and writes that down.
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
        "database {}: this program does not have the filter_policy {} of column family {}, "
        "and would write files without filters",
        path, *policy, family.name);
  }
}

// One command reads the options several times.
void WarnOnce(const std::string& text) {
  static std::set<std::string> said;
  if (said.insert(text).second) term::WriteToStandardError("blocksieve: " + text + "\n");
}

// Changes when another process adds or removes files.
std::string StateOf(const std::string& path) {
  std::string state;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("MANIFEST-")) continue;
    std::error_code vanished;
    state += fmt::format("{} {}\n", name, entry.file_size(vanished));
  }
  return state;
}

// Opens all files at once, so that compactions of another process cannot remove one first.
void PrepareForRows(StoredOptions* options) {
  options->db.max_open_files = -1;
  std::erase_if(options->families, [](const rocksdb::ColumnFamilyDescriptor& family) {
    return family.name != rocksdb::kDefaultColumnFamilyName;
  });
}

// Opens as few files as RocksDB allows: there may be more than a process can have open. Missing and
// damaged files are still listed, for others to look at.
void PrepareForFileList(StoredOptions* options) {
  options->db.max_open_files = 0;
  options->db.max_file_opening_threads = 1;
  options->db.paranoid_checks = false;
}

// The table files in a database's directory that cannot be opened, as the end of a message:
// "; unreadable: 000012.sst", or "". RocksDB often blames only the MANIFEST.
std::string UnreadableTables(const std::string& path, const rocksdb::Options& options) {
  constexpr size_t kMostNamed = 5;
  std::vector<std::filesystem::path> unreadable;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.path().extension() != ".sst") continue;
    rocksdb::SstFileReader reader(options);
    if (!reader.Open(entry.path()).ok()) unreadable.push_back(entry.path().filename());
  }
  std::sort(unreadable.begin(), unreadable.end());
  std::string text;
  for (size_t i = 0; i < std::min(unreadable.size(), kMostNamed); ++i) {
    text += (i == 0 ? "; unreadable: " : ", ") + unreadable[i].string();
  }
  return unreadable.size() > kMostNamed ? text + ", ..." : text;
}

using Preparation = std::function<void(StoredOptions*)>;

std::unique_ptr<rocksdb::DB> TryOpenReadOnly(const std::string& path, const Preparation& prepare) {
  StoredOptions options = ReadStoredOptions(path, /*strict=*/false);
  options.db.info_log = NoLog();
  options.db.create_if_missing = false;
  prepare(&options);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  std::unique_ptr<rocksdb::DB> db;
  const rocksdb::Status status = OpenDb(&db, [&](OpenedDb* opened) {
    return rocksdb::DB::OpenForReadOnly(options.db, path, options.families, &handles, opened);
  });
  if (!status.ok()) {
    term::Fail("cannot open database {}: {}{}", path, status.ToString(),
               UnreadableTables(path, {options.db, options.families.front().options}));
  }
  // The database keeps a handle of its own.
  for (rocksdb::ColumnFamilyHandle* const handle : handles) db->DestroyColumnFamilyHandle(handle);
  return db;
}

std::unique_ptr<rocksdb::DB> OpenPrepared(const std::string& path, const Preparation& prepare) {
  constexpr int kMostTries = 20;
  for (int tries = 1;; ++tries) {
    const std::string state = StateOf(path);
    try {
      return TryOpenReadOnly(path, prepare);
    } catch (const term::Failure&) {
      // Another process may have removed files between our reading their list and opening them.
      if (tries == kMostTries || StateOf(path) == state) throw;
    }
  }
}

}  // namespace

bool HasRocksDb(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::path(path) / "CURRENT", error);
}

std::shared_ptr<rocksdb::Logger> NoLog() { return std::make_shared<SilentLog>(); }

StoredOptions ReadStoredOptions(const std::string& path, bool strict) {
  MakeCollectorNameKnown();
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
    WarnOnce(
        fmt::format("cannot read the options of database {}: {}; going on with the default options",
                    path, status.ToString()));
    return DefaultOptions(path);
  }
  if (strict) CheckFilterPolicies(path, options);
  for (rocksdb::ColumnFamilyDescriptor& family : options.families) {
    RemoveCollectorsOfUnknownColumns(&family.options);
  }
  return options;
}

std::unique_ptr<rocksdb::DB> OpenReadOnly(const std::string& path,
                                          std::shared_ptr<TablePropertiesCollectorFactory> index) {
  return OpenPrepared(path, [&index](StoredOptions* options) {
    PrepareForRows(options);
    if (index == nullptr) return;
    options->families.front().options.table_properties_collector_factories.push_back(index);
  });
}

std::vector<rocksdb::LiveFileMetaData> LiveFiles(const std::string& path) {
  std::vector<rocksdb::LiveFileMetaData> files;
  OpenPrepared(path, PrepareForFileList)->GetLiveFilesMetaData(&files);
  return files;
}

SkipIndexSummary IndexesOf(rocksdb::DB* db, const std::string& path) {
  SkipIndexSummary summary;
  const rocksdb::Status status = ReadSkipIndexes(db, nullptr, &summary);
  if (!status.ok())
    term::Fail("cannot read the indexes of database {}: {}", path, status.ToString());
  return summary;
}

}  // namespace blocksieve::cli
