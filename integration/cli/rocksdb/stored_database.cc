#include "integration/cli/rocksdb/stored_database.h"

#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/utilities/object_registry.h>

#include <algorithm>
#include <cstdarg>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "integration/cli/rocksdb/rocksdb_engine.h"
#include "integration/cli/rocksdb/unreadable_tables.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/streams.h"
#include "integration/rocksdb/index/skip_index_collector.h"

namespace blocksieve::cli {
namespace {

/// RocksDB would otherwise write a file LOG beside what it only reads.
class NoLog : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

using rocksdb::TablePropertiesCollectorFactory;
using rocksdb_plugin::SkipIndexCollectorFactory;

// OPTIONS files name the collector of skip indexes without saying what it collects. For strict
// reading the name must be known; what RocksDB makes of it is taken out again.
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
           std::string_view(factory->Name()) == SkipIndexCollectorFactory::kName;
  });
}

StoredOptions UsualOptions(const std::string& path) {
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

// Options are read several times for one command.
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

// All files are opened at once, so that none can vanish under another process's compactions.
void PrepareForRows(StoredOptions* options) {
  options->db.max_open_files = -1;
  std::erase_if(options->families, [](const rocksdb::ColumnFamilyDescriptor& family) {
    return family.name != rocksdb::kDefaultColumnFamilyName;
  });
}

// As few files are opened as RocksDB can do with: there may be more than a process may have open.
// Those that are missing or damaged are listed all the same, for others to look at.
void PrepareForFileList(StoredOptions* options) {
  options->db.max_open_files = 0;
  options->db.max_file_opening_threads = 1;
  options->db.paranoid_checks = false;
}

using Preparation = void (*)(StoredOptions*);

std::unique_ptr<rocksdb::DB> TryOpenReadOnly(const std::string& path, Preparation prepare) {
  StoredOptions options = ReadStoredOptions(path, /*strict=*/false);
  options.db.info_log = std::make_shared<NoLog>();
  options.db.create_if_missing = false;
  prepare(&options);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::OpenForReadOnly(options.db, path, options.families, &handles, &db);
  if (!status.ok()) {
    term::Fail("cannot open database {}: {}{}", path, status.ToString(),
               UnreadableTables(path, {options.db, options.families.front().options}));
  }
  // The database keeps a handle of its own.
  for (rocksdb::ColumnFamilyHandle* const handle : handles) db->DestroyColumnFamilyHandle(handle);
  return std::unique_ptr<rocksdb::DB>(db);
}

std::unique_ptr<rocksdb::DB> OpenPrepared(const std::string& path, Preparation prepare) {
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

using OptionsByFamily = std::map<std::string, rocksdb::ColumnFamilyOptions>;

OptionsByFamily FamiliesOf(const std::string& path) {
  OptionsByFamily families;
  for (auto& family : ReadStoredOptions(path, /*strict=*/false).families) {
    families.emplace(family.name, std::move(family.options));
  }
  return families;
}

std::string WithoutTimestamp(std::string key, const rocksdb::Comparator& comparator) {
  key.resize(key.size() - std::min(key.size(), comparator.timestamp_size()));
  return key;
}

KeyRange RangeOf(const rocksdb::LiveFileMetaData& file, const rocksdb::Comparator* comparator) {
  return {.smallest = WithoutTimestamp(file.smallestkey, *comparator),
          .largest = WithoutTimestamp(file.largestkey, *comparator),
          .less = [comparator](std::string_view a, std::string_view b) {
            return comparator->CompareWithoutTimestamp(a, false, b, false) < 0;
          }};
}

}  // namespace

bool HasRocksDb(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::path(path) / "CURRENT", error);
}

StoredOptions ReadStoredOptions(const std::string& path, bool strict) {
  MakeCollectorNameKnown();
  rocksdb::ConfigOptions config;
  config.ignore_unknown_options = !strict;
  config.ignore_unsupported_options = !strict;
  StoredOptions options;
  const rocksdb::Status status = LoadOptions(config, path, &options);
  if (status.IsNotFound()) return UsualOptions(path);
  if (!status.ok() && strict) {
    term::Fail("cannot read the options of database {}: {}", path, status.ToString());
  }
  if (!status.ok()) {
    WarnOnce(fmt::format("cannot read the options of database {}: {}; going on with the usual ones",
                         path, status.ToString()));
    return UsualOptions(path);
  }
  for (rocksdb::ColumnFamilyDescriptor& family : options.families) {
    RemoveCollectorsOfUnknownColumns(&family.options);
  }
  return options;
}

std::unique_ptr<rocksdb::DB> OpenReadOnly(const std::string& path) {
  return OpenPrepared(path, PrepareForRows);
}

std::vector<FilePlace> ListRocksDbFiles(const std::string& path) {
  std::vector<rocksdb::LiveFileMetaData> files;
  OpenPrepared(path, PrepareForFileList)->GetLiveFilesMetaData(&files);
  OptionsByFamily families = FamiliesOf(path);
  std::vector<FilePlace> places;
  for (const rocksdb::LiveFileMetaData& file : files) {
    const rocksdb::ColumnFamilyOptions& options = families[file.column_family_name];
    // Under FIFO nothing is compacted: files stay on level 0.
    const bool stays = options.compaction_style == rocksdb::kCompactionStyleFIFO;
    places.push_back({.path = file.db_path + file.name,  // which begins with a slash
                      .family = file.column_family_name,
                      .level = file.level,
                      .is_short_lived = file.level == 0 && !stays,
                      .keys = RangeOf(file, options.comparator)});
  }
  return places;
}

SkipIndexSummary IndexesOf(rocksdb::DB* db, const std::string& path) {
  SkipIndexSummary summary;
  const rocksdb::Status status = ReadSkipIndexes(db, nullptr, &summary);
  if (!status.ok())
    term::Fail("cannot read the indexes of database {}: {}", path, status.ToString());
  return summary;
}

}  // namespace blocksieve::cli
