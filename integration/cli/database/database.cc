// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/database/database.h"

#include <fmt/ranges.h>
#include <rocksdb/comparator.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/db_ttl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <future>
#include <set>
#include <system_error>

#include "integration/cli/database/filter_options.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/listener/listener.h"

namespace blocksieve::cli {
namespace {

// A text that changes when another process adds or removes files.
std::string ReadState(const std::string& path) {
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
void PrepareForRows(const std::string& family, UsedOptions* options) {
  options->db.max_open_files = -1;
  // RocksDB also requires the default one.
  std::erase_if(options->families, [&](const rocksdb::ColumnFamilyDescriptor& other) {
    return other.name != family && other.name != rocksdb::kDefaultColumnFamilyName;
  });
}

// Opens as few files as RocksDB allows: there may be more than a process can have open. Missing and
// damaged files are still listed.
void PrepareForFileList(UsedOptions* options) {
  options->db.max_open_files = 0;
  options->db.max_file_opening_threads = 1;
  options->db.paranoid_checks = false;
}

// The end of a message that names the table files that cannot be opened: "; unreadable:
// 000012.sst", or "". RocksDB often blames only the MANIFEST.
std::string UnreadableTables(const std::string& path, const rocksdb::Options& options) {
  constexpr size_t kMaxNamed = 5;
  std::string text;
  size_t num_named = 0;
  for (const std::string& name : NamesWithSuffix(path, ".sst")) {
    rocksdb::SstFileReader reader(options);
    if (reader.Open(path + "/" + name).ok()) continue;
    if (num_named == kMaxNamed) return text + ", ...";
    text += (num_named++ == 0 ? "; unreadable: " : ", ") + name;
  }
  return text;
}

GuardedDb OpenPrepared(const Target& target, const std::function<void(UsedOptions*)>& prepare) {
  constexpr int kMaxTries = 20;
  for (int tries = 1;; ++tries) {
    const std::string state = ReadState(target.path);
    try {
      UsedOptions options = OptionsToRead(ReadStored(target));
      prepare(&options);
      return GuardedDb(target, std::move(options));
    } catch (const term::Failure&) {
      // Another process may have removed files after they were listed.
      if (tries == kMaxTries || ReadState(target.path) == state) throw;
    }
  }
}

// The files of the database in all column families. Some may be missing or damaged. Throws
// CannotOpen if only its own program, or a later RocksDB, can open it.
std::vector<rocksdb::LiveFileMetaData> LiveFiles(const Target& target) {
  std::vector<rocksdb::LiveFileMetaData> files;
  OpenPrepared(target, PrepareForFileList)->GetLiveFilesMetaData(&files);
  return files;
}

std::vector<files::WritableDirectory> WritableIn(const Target& target, const UsedOptions& options) {
  if (options.access == Access::kRead) return {};
  const bool only_sidecars = options.access == Access::kIndex;
  std::vector<files::WritableDirectory> writable{{target.path, only_sidecars}};
  for (const std::string& path : target.data_dirs) writable.push_back({path, only_sidecars});
  if (!only_sidecars) writable.push_back({options.db.wal_dir});
  return writable;
}

// Fails if a file that the MANIFEST lists is missing.
std::set<std::string> CheckFiles(const Target& target) {
  std::set<std::string> live;
  for (const rocksdb::LiveFileMetaData& file : LiveFiles(target)) {
    live.insert(file.name.substr(1));
    std::error_code error;
    if (!file.db_path.ends_with(kPathSuffix) &&
        std::filesystem::exists(file.db_path + file.name, error)) {
      continue;
    }
    term::Fail(
        "cannot open database {}: its file {} is not in {}, or in another one of several; name the "
        "directories of DBOptions::db_paths, in their order, with --data-dir",
        target.path, file.name.substr(1), fmt::join(DataDirectories(target), ", "));
  }
  return live;
}

// Also fails if a named directory has files of another database: RocksDB deletes those that it does
// not know.
void CheckDirectories(const Target& target) {
  const std::set<std::string> live = CheckFiles(target);
  for (const std::string& directory : target.data_dirs) {
    if (IsSameDirectory(directory, target.path)) continue;
    for (const std::string& name : NamesWithSuffix(directory, ".sst")) {
      if (live.contains(name)) continue;
      term::Fail(
          "--data-dir is {}, whose {} is no file of database {}; allowed: directories of this "
          "database alone",
          directory, name, target.path);
    }
  }
}

rocksdb::Status OpenWithTtl(const std::string& path, const UsedOptions& options,
                            std::vector<rocksdb::ColumnFamilyHandle*>* handles,
                            std::unique_ptr<rocksdb::DB>* db) {
  const std::vector<int32_t> no_ttls(options.families.size(), 0);
  rocksdb::DBWithTTL* opened = nullptr;
  rocksdb::Status status = rocksdb::DBWithTTL::Open(options.db, path, options.families, handles,
                                                    &opened, no_ttls, /*read_only=*/true);
  db->reset(opened);
  return status;
}

// Fails if files have operands of a merge operator that this program does not have, and RocksDB
// does not copy them.
void CheckOperands(const StoredDatabase& stored) {
  if (rocksdb_plugin::CopyOperands()) return;
  std::optional<GuardedDb> db;
  for (const rocksdb_plugin::NamedObject& object : stored.loaded.objects) {
    if (object.option != "merge_operator") continue;
    if (!stored.target.Has(object.family)) {
      // RocksDB may flush it.
      if (!HasRowsInWal(stored)) continue;
      term::Fail(
          "cannot rewrite database {}: column family {} has merge operator {}, which only its own "
          "program has, and the WAL has rows that may need it; open and close the database there "
          "first",
          stored.target.path, object.family, object.value);
    }
    if (!db) db.emplace(OpenPrepared(stored.target, PrepareForFileList));
    rocksdb::TablePropertiesCollection tables;
    term::CheckOk(
        rocksdb_plugin::ReadTableProperties(db->get(), db->FindHandle(object.family), &tables),
        "cannot read database {}", stored.target.path);
    uint64_t num_operands = 0;
    for (const auto& [table, properties] : tables) num_operands += properties->num_merge_operands;
    if (num_operands == 0) continue;
    term::Fail(
        "cannot rewrite database {}: column family {} has {} of {}, which only its own program "
        "has; this RocksDB, {}, rewrites no files with them",
        stored.target.path, object.family, term::CountOf(num_operands, "operand"), object.value,
        rocksdb::GetRocksVersionAsString());
  }
}

std::string WithoutTimestamp(std::string key, const rocksdb::Comparator& comparator) {
  key.resize(key.size() - std::min(key.size(), comparator.timestamp_size()));
  return key;
}

std::string FamilyOfTable(const std::string& path) {
  rocksdb::SstFileReader reader{rocksdb::Options()};
  const auto properties = reader.Open(path).ok() ? reader.GetTableProperties() : nullptr;
  return properties == nullptr ? "" : properties->column_family_name;
}

// The table files in the directories of a database that cannot be opened.
std::vector<FilePlace> FilesInDirectories(const Target& target) {
  std::vector<FilePlace> places;
  std::vector<std::string> directories = DataDirectories(target);
  if (!target.data_dirs.empty()) directories.push_back(target.path);
  for (const std::string& directory : std::set(directories.begin(), directories.end())) {
    for (const char* const suffix : {".sst", ".ldb"}) {
      for (const std::string& name : NamesWithSuffix(directory, suffix)) {
        const std::string path = directory + "/" + name;
        places.push_back({.path = path, .family = FamilyOfTable(path), .keys = {}});
      }
    }
  }
  return places;
}

std::vector<FilePlace> ListTarget(const Target& target) {
  std::vector<FilePlace> places = ListFiles(target);
  std::erase_if(places, [&](const FilePlace& place) { return !target.Has(place.family); });
  return places;
}

// Fails if `path` cannot be a table file.
void CheckTableFile(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) {
    term::Fail("FILE is {}, a directory; for a database, use --db {}", path, path);
  }
  // Opening a named pipe would block.
  if (std::filesystem::is_other(status)) term::Fail("FILE is {}; allowed: a regular file", path);
  if (error) term::Fail("cannot open {}: {}", path, error.message());
  if (path.ends_with(".blob")) {
    term::Fail("FILE is {}, a blob file, which has no filters; allowed: an SST", path);
  }
}

}  // namespace

GuardedDb::GuardedDb(const Target& target, UsedOptions options) {
  const bool reads = options.access == Access::kRead || options.access == Access::kIndex;
  // Without an OPTIONS file to keep, RocksDB writes one for the rows that are loaded.
  const bool makes_options =
      options.access == Access::kLoad && OptionsFileNames(target.path).empty();
  files_ =
      files::NewGuardedFileSystem(WritableIn(target, options), makes_options ? "" : target.path);
  env_ = rocksdb::NewCompositeEnv(files_);
  options.db.env = env_.get();
  if (reads) {
    options.db.info_log = std::make_shared<LineLog>();
  } else {
    options.db.statistics = rocksdb::CreateDBStatistics();
  }
  using rocksdb_plugin::OpenedDb;
  const rocksdb::Status status =
      options.has_ttl
          ? OpenWithTtl(target.path, options, &handles_, &db_)
          : rocksdb_plugin::OpenDb(&db_, [&](OpenedDb* opened) {
              return reads ? rocksdb::DB::OpenForReadOnly(options.db, target.path, options.families,
                                                          &handles_, opened)
                           : rocksdb::DB::Open(options.db, target.path, options.families, &handles_,
                                               opened);
            });
  if (status.ok()) return;
  FailToOpen(
      target.path, status,
      reads ? UnreadableTables(target.path, {options.db, options.families.front().options}) : "");
}

GuardedDb::~GuardedDb() {
  for (rocksdb::ColumnFamilyHandle* const handle : handles_) {
    // Only a null handle is an error.
    db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
}

rocksdb::ColumnFamilyHandle* GuardedDb::FindHandle(const std::string& family) const {
  for (auto* const handle : handles_) {
    if (handle->GetName() == family) return handle;
  }
  ReadStored({.path = db_->GetName(), .family = family})
      .TargetFamilies();  // fails and names those that exist
  term::Fail("column family {} was not opened", family);
}

void GuardedDb::CheckRefused() const {
  const std::vector<std::string> refused = files_->refused();
  if (refused.empty()) return;
  term::Fail("RocksDB tried to change {}, outside of database {}; nothing there was changed",
             fmt::join(refused, ", "), db_->GetName());
}

rocksdb::Status GuardedDb::Compact(
    const std::function<rocksdb::Status()>& compaction,
    const std::function<void(uint64_t bytes_written)>& waiting) const {
  constexpr auto kPause = std::chrono::milliseconds(100);
  const auto bytes_written = [statistics = db_->GetDBOptions().statistics] {
    return statistics->getTickerCount(rocksdb::COMPACT_WRITE_BYTES);
  };
  const uint64_t before = bytes_written();
  auto result = std::async(std::launch::async, compaction);
  while (result.wait_for(kPause) != std::future_status::ready) waiting(bytes_written() - before);
  return result.get();
}

void CheckOpening(const StoredDatabase& stored) {
  if (!stored.problem.empty()) term::Fail("{}", stored.problem);
  UsedOptions options = OptionsToRead(stored);
  const std::unique_ptr<rocksdb::Env> memory(rocksdb::NewMemEnv(rocksdb::Env::Default()));
  options.db.env = memory.get();
  const auto listeners = stored.Value(OptionsSection::Db(), "listeners");
  if (!listeners || WithoutListener(*listeners) == *listeners) options.db.listeners.clear();
  options.db.info_log = std::make_shared<LineLog>();
  options.db.create_if_missing = options.db.create_missing_column_families = true;
  options.db.wal_dir = "";
  options.db.db_paths.clear();
  // Tables that are mapped into memory cannot be there already.
  options.db.allow_mmap_reads = options.db.allow_mmap_writes = false;
  for (rocksdb::ColumnFamilyDescriptor& family : options.families) {
    if (!family.options.table_factory->IsInstanceOf("BlockBasedTable")) {
      family.options.table_factory.reset(rocksdb::NewBlockBasedTableFactory());
    }
  }
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status status = rocksdb_plugin::OpenDb(&db, [&](rocksdb_plugin::OpenedDb* opened) {
    return rocksdb::DB::Open(options.db, "/trial", options.families, &handles, opened);
  });
  for (auto* const handle : handles) db->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  term::CheckOk(status,
                "with these options RocksDB would not open database {}, so nothing was written",
                stored.target.path);
}

void CheckWritable(const StoredDatabase& stored, Access access) {
  CheckOptionsToWrite(stored, access);
  if (access != Access::kRead && HasRocksDb(stored.target)) CheckDirectories(stored.target);
  CheckOperands(stored);
}

DatabaseLock::DatabaseLock(const std::string& database, const std::string& if_in_use)
    : env_(files::EnvOfDirectory(database)) {
  CheckDatabase(database);
  const rocksdb::Status status = env_->LockFile(database + "/LOCK", &lock_);
  if (!status.ok()) FailToOpen(database, status, "", if_in_use);
}

DatabaseLock::~DatabaseLock() { env_->UnlockFile(lock_).PermitUncheckedError(); }

void FailToOpen(const std::string& path, const rocksdb::Status& status, const std::string& more,
                const std::string& if_in_use) {
  const std::string text = status.ToString();
  // RocksDB reports errno only as text: EAGAIN if another process has the lock.
  if (text.ends_with(std::generic_category().message(EAGAIN))) {
    term::Fail("database {} is in use; close it in the other process: {}{}", path, text, if_in_use);
  }
  std::string problem = fmt::format("cannot open database {}: {}{}", path, TextOf(status), more);
  // Another comparator than OPTIONS say, what only later versions know, or what RocksDB's
  // assertions refuse, such as two files of LevelDB on level 0.
  if (status.IsInvalidArgument() || status.IsNotSupported() || IsOfLevelDb(path)) {
    throw CannotOpen(problem);
  }
  throw term::Failure(problem);
}

GuardedDb OpenReadOnly(const Target& target, const std::string& family, Access access,
                       const std::shared_ptr<rocksdb::TablePropertiesCollectorFactory>& index) {
  const auto prepare = [&](UsedOptions* options) {
    PrepareForRows(family, options);
    options->access = access;
    for (rocksdb::ColumnFamilyDescriptor& each : options->families) {
      if (index == nullptr || each.name != family) continue;
      each.options.table_properties_collector_factories = {index};
    }
  };
  try {
    return OpenPrepared(target, prepare);
  } catch (const CannotOpen&) {
    throw;
  } catch (const term::Failure&) {
    CheckFiles(target);  // whose failure says more
    throw;
  }
}

void AddListenerFor(const rocksdb::ColumnFamilyOptions& family, rocksdb::DBOptions* options) {
  const auto* const policy = FindPolicy(family);
  const bool has_rates =
      policy != nullptr && rocksdb_plugin::ToGoal(policy->options()).differs_by_run();
  if (!has_rates && family.table_properties_collector_factories.empty()) return;
  if (!rocksdb_plugin::HasListener(*options)) options->listeners.push_back(NewListener());
}

std::vector<FilePlace> ListFiles(const Target& target) {
  std::vector<rocksdb::LiveFileMetaData> files;
  try {
    files = LiveFiles(target);
  } catch (const CannotOpen& reason) {
    WarnOnce(
        fmt::format("{}; listing the table files in its directory: their levels are unknown, "
                    "and some may be obsolete",
                    reason.what()));
    return FilesInDirectories(target);
  }
  const StoredDatabase stored = ReadStored(target);
  std::vector<FilePlace> places;
  for (const rocksdb::LiveFileMetaData& file : files) {
    const rocksdb::ColumnFamilyOptions* const options = stored.Find(file.column_family_name);
    if (options == nullptr) continue;  // of RocksDB itself
    const auto policy =
        stored.Value(OptionsSection::Table(file.column_family_name), "filter_policy");
    const bool is_known = policy && stored.problem.empty();
    // FIFO compaction leaves files on level 0.
    const bool stays = options->compaction_style == rocksdb::kCompactionStyleFIFO;
    // The name begins with a slash.
    const std::filesystem::path path = file.db_path + file.name;
    places.push_back({.path = rocksdb_plugin::PathOfTable(path.lexically_normal(),
                                                          rocksdb::FileSystem::Default().get()),
                      .family = file.column_family_name,
                      .level = file.level,
                      .is_short_lived = file.level == 0 && !stays,
                      .keys = {{WithoutTimestamp(file.smallestkey, *options->comparator),
                                WithoutTimestamp(file.largestkey, *options->comparator)}},
                      .comparator = options->comparator,
                      .reader = is_known ? rocksdb_plugin::ReaderOf(*options, *policy)
                                         : rocksdb_plugin::FilterReader()});
  }
  return places;
}

uint64_t FileBytes(const Target& target) {
  uint64_t sum = 0;
  for (const FilePlace& file : ListFiles(target)) sum += SizeOfFile(file.path);
  return sum;
}

// OPTIONS files record only whether there is a cache. The default size differs by version.
uint64_t CacheBytes(const Target& target) {
  const StoredDatabase stored = ReadStored(target);
  const auto has_cache = [&](const std::string& family) {
    const auto* const table = FindTableOptions(*stored.Find(family));
    return table == nullptr || !table->no_block_cache;
  };
  if (std::ranges::none_of(stored.Families(), has_cache)) return 0;
  const std::unique_ptr<rocksdb::TableFactory> factory(rocksdb::NewBlockBasedTableFactory());
  return factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_cache->GetCapacity();
}

void TargetFiles::ForEach(const std::string& doing, const std::function<void(TableFile*)>& visit) {
  term::Progress progress;
  vanished.clear();
  unopened.clear();
  for (size_t i = 0; i < places.size(); ++i) {
    term::CheckInterrupt();
    progress.Show(doing, i, places.size(), i, "file");
    const FilePlace& place = places[i];
    try {
      if (const auto file = TableFile::Open(place)) {
        visit(file.get());
        continue;
      }
    } catch (const term::Failure& failure) {
      std::error_code error;
      if (std::filesystem::exists(place.path, error) || error) {
        unopened.emplace_back(failure.what());
        continue;
      }
    }
    vanished.push_back(place);
  }
  if (vanished.empty() || target.path.empty()) return;
  // A missing file that the database still lists was not removed by its process.
  std::set<std::string> listed;
  for (const FilePlace& place : ListFiles(target)) listed.insert(place.path);
  std::erase_if(vanished, [&](const FilePlace& place) {
    if (!listed.contains(place.path)) return false;
    unopened.push_back(
        fmt::format("cannot open {}: the file does not exist; if the program sets "
                    "DBOptions::db_paths, name these directories with --data-dir",
                    place.path));
    return true;
  });
}

std::vector<FileReport> TargetFiles::ReadReports(const std::string& doing) {
  constexpr int kMaxPasses = 5;
  std::map<std::string, FileReport> known;  // by path
  for (int pass = 1;; ++pass) {
    TargetFiles unread{target, places};
    std::erase_if(unread.places,
                  [&](const FilePlace& place) { return known.contains(place.path); });
    unread.ForEach(
        doing, [&](TableFile* file) { known.emplace(file->report().place.path, file->report()); });
    vanished = std::move(unread.vanished);
    unopened = std::move(unread.unopened);
    if (vanished.empty() || target.path.empty() || pass == kMaxPasses) break;
    places = ListTarget(target);
  }
  std::vector<FileReport> reports;
  for (const FilePlace& place : places) {
    const auto report = known.find(place.path);
    if (report == known.end()) continue;
    // The file may have moved to another level meanwhile.
    report->second.place.level = place.level;
    report->second.place.is_short_lived = place.is_short_lived;
    reports.push_back(std::move(report->second));
  }
  return reports;
}

void TargetFiles::FailIfUnopened() const {
  if (!unopened.empty()) term::Fail("{}", fmt::join(unopened, "\n"));
}

TargetFiles FindFiles(const Target& target) {
  if (target.path.empty() == target.file.empty()) {
    term::FailUsage("{} given; required: one of them",
                    target.path.empty() ? "neither --db nor FILE is" : "both --db and FILE are");
  }
  if (!target.file.empty()) {
    CheckTableFile(target.file);
    return {target, {{.path = target.file, .family = "", .keys = {}}}};
  }
  ReadStored(target).TargetFamilies();  // fails if it does not exist
  return {target, ListTarget(target)};
}

}  // namespace blocksieve::cli
