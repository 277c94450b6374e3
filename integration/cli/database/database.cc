// SPDX-License-Identifier: Apache-2.0
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
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/compat/version_differences.h"

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
