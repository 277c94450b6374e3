#include "integration/cli/database/database.h"

#include <fmt/ranges.h>
#include <rocksdb/comparator.h>
#include <rocksdb/file_system.h>
#include <rocksdb/sst_file_reader.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "integration/cli/database/open_database.h"
#include "integration/cli/term/terminal.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/sidecar/databases.h"

namespace blocksieve::cli {
namespace {

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
std::vector<FilePlace> FilesInDirectories(const DatabasePlace& place) {
  std::vector<FilePlace> places;
  std::vector<std::string> directories = DataDirectories(place);
  if (!place.data_dirs.empty()) directories.push_back(place.path);
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

std::vector<FilePlace> ListChosen(const FileChoice& choice) {
  std::vector<FilePlace> places = ListFiles(choice.db);
  std::erase_if(places, [&](const FilePlace& place) {
    return place.family != choice.family.value_or(place.family);
  });
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

void CheckDatabase(const std::string& path) {
  if (HasRocksDb(path)) return;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) term::Fail("database {} does not exist", path);
  term::Fail("{} is not a database: it has no file CURRENT", path);
}

void CheckPlaceForDatabase(const std::string& path) {
  std::error_code error;
  if (HasRocksDb(path) || !std::filesystem::exists(path, error)) return;
  if (std::filesystem::is_directory(path, error) && std::filesystem::is_empty(path, error)) return;
  if (error) term::Fail("cannot open database {}: {}", path, error.message());
  term::Fail("{} is neither a database nor an empty directory", path);
}

std::vector<FilePlace> ListFiles(const DatabasePlace& place) {
  std::vector<rocksdb::LiveFileMetaData> files;
  try {
    files = LiveFiles(place);
  } catch (const CannotOpen& reason) {
    WarnOnce(
        fmt::format("{}; listing the table files in its directory: their levels are unknown, "
                    "and some may be obsolete",
                    reason.what()));
    return FilesInDirectories(place);
  }
  const StoredDatabase stored = ReadStored(place);
  std::vector<FilePlace> places;
  for (const rocksdb::LiveFileMetaData& file : files) {
    const rocksdb::ColumnFamilyOptions* const options = stored.Find(file.column_family_name);
    if (options == nullptr) continue;  // of RocksDB itself
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
                      .comparator = options->comparator});
  }
  return places;
}

uint64_t FileBytes(const DatabasePlace& place) {
  uint64_t sum = 0;
  for (const FilePlace& file : ListFiles(place)) sum += SizeOfFile(file.path);
  return sum;
}

std::vector<std::string> OrphanIndexes(const DatabasePlace& place) {
  std::set<std::string> directories{place.path};
  directories.insert(place.data_dirs.begin(), place.data_dirs.end());
  std::vector<std::string> orphans;
  for (const std::string& directory : directories) {
    for (std::string& orphan :
         rocksdb_plugin::OrphanSidecars(rocksdb::FileSystem::Default().get(), directory)) {
      orphans.push_back(std::move(orphan));
    }
  }
  return orphans;
}

RequestedRatesByFamily ReadRequestedRates(const DatabasePlace& place) {
  RequestedRatesByFamily rates;
  for (const auto& [name, options] : ReadStored(place).loaded.families) {
    if (const auto* const policy = PolicyOf(options)) rates[name] = policy->options();
  }
  return rates;
}

// OPTIONS files record only whether there is a cache. The default size differs by version.
uint64_t CacheBytes(const DatabasePlace& place) {
  const StoredDatabase stored = ReadStored(place);
  const auto has_cache = [&](const std::string& family) {
    const auto* const table = TableOptionsOf(*stored.Find(family));
    return table == nullptr || !table->no_block_cache;
  };
  if (std::ranges::none_of(stored.Families(), has_cache)) return 0;
  const std::unique_ptr<rocksdb::TableFactory> factory(rocksdb::NewBlockBasedTableFactory());
  return factory->GetOptions<rocksdb::BlockBasedTableOptions>()->block_cache->GetCapacity();
}

ChosenFiles::Missed ChosenFiles::ForEach(const std::string& doing,
                                         const std::function<void(TableFile*)>& visit) const {
  term::Progress progress;
  Missed missed;
  for (size_t i = 0; i < places.size(); ++i) {
    if (progress.IsDue()) progress.Show(doing, {i, places.size(), i, "file"});
    try {
      const std::unique_ptr<TableFile> file = TableFile::Open(places[i]);
      if (file != nullptr) {
        visit(file.get());
        continue;
      }
    } catch (const term::Failure& failure) {
      std::error_code error;
      if (std::filesystem::exists(places[i].path, error) || error) {
        missed.unopened.emplace_back(failure.what());
        continue;
      }
    }
    missed.vanished.push_back(places[i]);
  }
  SeparateMissingFiles(&missed);
  return missed;
}

std::vector<FileReport> ChosenFiles::ReadReports(const std::string& doing, Missed* missed) {
  constexpr int kMaxPasses = 5;
  std::map<std::string, FileReport> known;  // by path
  for (int pass = 1;; ++pass) {
    ChosenFiles unread = *this;
    std::erase_if(unread.places,
                  [&](const FilePlace& place) { return known.contains(place.path); });
    *missed = unread.ForEach(
        doing, [&](TableFile* file) { known.emplace(file->report().place.path, file->report()); });
    if (missed->vanished.empty() || choice.db.path.empty() || pass == kMaxPasses) break;
    places = ListChosen(choice);
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

// A missing file that the database still lists was not removed by its process.
void ChosenFiles::SeparateMissingFiles(Missed* missed) const {
  if (missed->vanished.empty() || choice.db.path.empty()) return;
  std::set<std::string> listed;
  for (const FilePlace& place : ListFiles(choice.db)) listed.insert(place.path);
  std::erase_if(missed->vanished, [&](const FilePlace& place) {
    if (!listed.contains(place.path)) return false;
    missed->unopened.push_back(
        fmt::format("cannot open {}: the file does not exist; if the program sets "
                    "DBOptions::db_paths, name these directories with --data-dir",
                    place.path));
    return true;
  });
}

void ChosenFiles::Missed::FailIfUnopened() const {
  if (!unopened.empty()) term::Fail("{}", fmt::join(unopened, "\n"));
}

ChosenFiles FindFiles(const FileChoice& choice) {
  if (choice.db.path.empty() == choice.file.empty()) {
    term::FailUsage("{} given; required: one of them",
                    choice.db.path.empty() ? "neither --db nor FILE is" : "both --db and FILE are");
  }
  if (!choice.file.empty()) {
    CheckTableFile(choice.file);
    return {{{.path = choice.file, .family = "", .keys = {}}}, choice};
  }
  CheckDatabase(choice.db);
  if (choice.family) ReadStored(choice.db).Families(choice.family);
  return {ListChosen(choice), choice};
}

}  // namespace blocksieve::cli
