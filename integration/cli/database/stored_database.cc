// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/database/stored_database.h"

#include <fmt/ranges.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/memtablerep.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "blocksieve/rocksdb/enable.h"
#include "integration/rocksdb/policy/policy.h"

namespace blocksieve::cli {
namespace {

namespace fs = std::filesystem;

// The number in the name of a WAL, such as 12 of 000012.log; 0 of other names.
uint64_t NumberOf(std::string_view name) {
  uint64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data(), end, number);
  return error == std::errc() && std::string_view(rest, end) == ".log" ? number : 0;
}

// Names of WAL files in a directory. Programs also keep other files named *.log there.
std::vector<std::string> WalFiles(const std::string& directory) {
  std::vector<std::string> names = NamesWithSuffix(directory, ".log");
  std::erase_if(names, [](const std::string& name) { return NumberOf(name) == 0; });
  return names;
}

// 0 without any.
uint64_t NewestWal(const std::string& directory) {
  uint64_t newest = 0;
  for (const std::string& name : WalFiles(directory)) newest = std::max(newest, NumberOf(name));
  return newest;
}

// Whether the directory has the WAL that a program wrote to last. RocksDB creates a MANIFEST and a
// WAL whenever it opens a database, with neighboring numbers, so an older WAL is one that the
// database left behind when its wal_dir changed.
bool HasLatestWal(const std::string& directory, const Target& target) {
  std::ifstream current(fs::path(target.path) / "CURRENT");
  std::string name;
  std::getline(current, name, '-');  // MANIFEST-000012
  uint64_t manifest = 0;
  const uint64_t newest = NewestWal(directory);
  return current >> manifest && newest != 0 && newest + 1 >= manifest;
}

bool HasCurrent(const std::string& directory) {
  std::error_code error;
  return fs::exists(fs::path(directory) / "CURRENT", error);
}

// Whether a database, or its table files, are in the directory.
bool IsDatabase(const std::string& directory) {
  return HasCurrent(directory) || !NamesWithSuffix(directory, ".sst").empty();
}

// Why a stored wal_dir is not the WAL directory of the database; "" if it is.
std::string WhyStale(const std::string& stored) {
  if (!fs::path(stored).is_absolute()) return "is relative to the program that wrote it";
  std::error_code error;
  const fs::directory_iterator entries(stored, error);
  if (error == std::errc::no_such_file_or_directory) return "does not exist";
  if (error) return "cannot be read: " + error.message();
  if (HasCurrent(stored)) return "is the directory of another database";
  if (NewestWal(stored) == 0) return "has no WAL files";
  return "";
}

// Whether the stored path is the database's own, from before it was copied or moved: RocksDB up to
// 6.22, and every version for databases with db_paths, stores it. The WAL must be here, too.
bool WasOwn(const Target& target, const std::string& stored, const std::string& version) {
  if (!HasLatestWal(target.path, target)) return false;
  if (HasCurrent(stored)) return true;
  int major = 0;
  int minor = 0;
  std::sscanf(version.c_str(), "%d.%d", &major, &minor);
  constexpr std::pair<int, int> kLastToStoreOwn = {6, 22};
  std::error_code error;
  const fs::path last = fs::path(stored).lexically_normal().filename();
  return (std::pair(major, minor) <= kLastToStoreOwn || !target.data_dirs.empty()) &&
         (last.empty() || last == "." ||
          last == fs::weakly_canonical(target.path, error).filename());
}

std::string GivenWalDirectory(const Target& target) {
  const std::string& given = target.wal_dir;
  const auto is_given = [&](const std::string& other) { return IsSameDirectory(given, other); };
  if (given == "none" || is_given(target.path)) return target.path;
  const bool has_other_tables =
      HasCurrent(given) || (IsDatabase(given) && std::ranges::none_of(target.data_dirs, is_given));
  // RocksDB leaves a WAL in it, so an empty one is a disk that is not mounted.
  if (has_other_tables || NewestWal(given) == 0) {
    term::Fail(
        "--wal-dir is {}, which {}; allowed: none, or a directory with the WAL of database {} "
        "alone",
        given, has_other_tables ? "has files of another database" : "has no WAL files",
        target.path);
  }
  return given;
}

// The directory with the WAL of the database: its own, or another one that wal_dir of its OPTIONS
// file names. Databases with a stored path of their own, which is stale in a copy, have their WAL
// here. In all other cases says on standard error, once, which WAL is read; to write, throws
// Failure: opening a database to write deletes the WAL files and table files in its WAL directory
// that it does not know, and outdates a WAL that is elsewhere.
std::string WalDirectory(const StoredDatabase& database, Access access) {
  const Target& target = database.target;
  if (!target.wal_dir.empty()) return GivenWalDirectory(target);
  // RocksDB may not load the rest of the file.
  const std::string stored = database.Value(OptionsSection::Db(), "wal_dir").value_or("");
  if (stored.empty() || IsSameDirectory(stored, target.path)) return target.path;
  const std::string why_stale = WhyStale(stored);
  const bool was_own = !why_stale.empty() && WasOwn(target, stored, database.loaded.version);
  const std::string named =
      fmt::format("the OPTIONS file of database {} has wal_dir {}, which {}", target.path, stored,
                  why_stale.empty() ? "has WAL files" : why_stale);
  // New files would outdate the missing WAL: its rows get lost when it is found again.
  if (access != Access::kRead && !was_own) {
    if (!why_stale.empty()) {
      term::Fail(
          "{}; name the directory of its WAL with --wal-dir, or use --wal-dir none if that is the "
          "database's own directory, as in a copy, or if all rows are flushed",
          named);
    }
    term::Fail(
        "{}; if they are of this database and of no copy or original of it, use --wal-dir {}; if "
        "not, --wal-dir none",
        named, stored);
  }
  const bool reads_stored = why_stale.empty() && !HasLatestWal(target.path, target);
  if (reads_stored) {
    WarnOnce(
        fmt::format("rows of database {} are also read from its wal_dir {}", target.path, stored));
  } else if (was_own) {
    WarnOnce(named + "; its WAL is in its own directory");
  } else {
    WarnOnce(
        fmt::format("{}; reading the WAL in {} alone{}, so rows may be missing; to read "
                    "another one, name its directory with --wal-dir",
                    named, target.path, NewestWal(target.path) == 0 ? ", which has none" : ""));
  }
  return reads_stored ? stored : target.path;
}

using rocksdb_plugin::LoadedOptions;
using rocksdb_plugin::NamedObject;
using rocksdb_plugin::PolicyEffect;

constexpr const char* kPrefix = "OPTIONS-";
constexpr const char* kBlockBased = "BlockBasedTable";
// RocksDB creates it for the option persist_stats_to_disk, and opens no database without it.
constexpr const char* kStatisticsFamily = "___rocksdb_stats_history___";

std::optional<OptionsText> LatestText(const std::string& database) {
  // Another process may write a new OPTIONS file and delete the old one before it was read.
  constexpr int kMaxTries = 3;
  for (int tries = 1;; ++tries) {
    const auto files = OptionsFileNames(database);
    if (files.empty()) return std::nullopt;
    try {
      return ReadOptionsText(database + "/" + files.rbegin()->second);
    } catch (const term::Failure&) {
      if (tries == kMaxTries) throw;
    }
  }
}

// Leaves out families that were dropped after the text was written, but for one that is to be made,
// and gives defaults to those that it lacks, such as after a crash.
void MatchFamilies(const std::string& path, const std::string& kept, LoadedOptions* loaded) {
  if (path.empty() || !HasCurrent(path)) return;
  std::vector<std::string> names;  // in the MANIFEST
  term::CheckOk(rocksdb::DB::ListColumnFamilies({}, path, &names), "cannot open database {}", path);
  const bool is_loaded = !loaded->families.empty();
  std::erase_if(loaded->families, [&](const rocksdb::ColumnFamilyDescriptor& family) {
    const std::string& name = family.name;
    if (name == kept || std::ranges::find(names, name) != names.end()) return false;
    WarnOnce(fmt::format(
        "the OPTIONS file of database {} names column family {}, which the database does not have; "
        "programs that open the families of the file fail until its sections are removed",
        path, name));
    std::erase_if(loaded->objects,
                  [&](const NamedObject& object) { return object.family == name; });
    return true;
  });
  for (const std::string& name : names) {
    if (loaded->Find(name) != nullptr) continue;
    if (is_loaded && name != kStatisticsFamily) {
      WarnOnce(fmt::format("the OPTIONS file of database {} lacks column family {}; using defaults",
                           path, name));
    }
    loaded->families.emplace_back(name, rocksdb::ColumnFamilyOptions());
  }
}

// `kept`: a column family that the text may name before it is made.
StoredDatabase LoadText(const Target& target, std::optional<OptionsText> text,
                        const std::string& kept) {
  StoredDatabase stored = {.target = target, .text = std::move(text)};
  const rocksdb::Status status =
      stored.text ? rocksdb_plugin::Load(*stored.text, &stored.loaded) : rocksdb::Status::OK();
  if (!status.ok()) {
    const std::string where = target.path.empty() ? "" : " of database " + target.path;
    stored.problem = fmt::format("cannot read {}{}: RocksDB {} says: {}", stored.text->name(),
                                 where, rocksdb::GetRocksVersionAsString(), status.ToString());
    stored.loaded.families.clear();
    stored.loaded.db = rocksdb::DBOptions();
  }
  MatchFamilies(target.path, kept, &stored.loaded);
  return stored;
}

std::string WhatLacks(const StoredDatabase& stored, const NamedObject& object) {
  const std::string family =
      object.family.empty() ? "" : fmt::format("column family {} of ", object.family);
  return fmt::format("{}database {} has {} {}, which only its own program has", family,
                     stored.target.path, object.option, object.value);
}

// Objects without which no program reads the rows rightly.
void CheckReadable(const StoredDatabase& stored) {
  for (const NamedObject& object : stored.loaded.objects) {
    if (!object.is_needed() || object.option == "wal_filter") continue;
    throw CannotOpen(
        fmt::format("{}, so no other program can open the database; set filter options in that "
                    "program",
                    WhatLacks(stored, object)));
  }
}

// Assertions of RocksDB end the process if a file has the number of a path that is not in the list.
// Such a file is then shown in a directory with kPathSuffix, once or more. A list of several paths
// changes how levels grow, so without --data-dir it is for reading only.
std::vector<rocksdb::DbPath> ListPaths(const Target& target, Access access) {
  constexpr size_t kMaxPaths = 4;  // of RocksDB
  constexpr uint64_t kAnySize = uint64_t{1} << 60;
  std::vector<rocksdb::DbPath> paths;
  if (target.data_dirs.empty() && access != Access::kRead) return paths;
  for (const std::string& directory : DataDirectories(target)) {
    paths.emplace_back(directory, kAnySize);
  }
  while (paths.size() < kMaxPaths) paths.emplace_back(paths.back().path + kPathSuffix, kAnySize);
  return paths;
}

// Sets what is not the database's own: places, and objects that belong to a running program.
UsedOptions MakePortable(const StoredDatabase& stored, Access access) {
  UsedOptions used = {.db = stored.loaded.db, .families = stored.loaded.families, .access = access};
  rocksdb::DBOptions& db = used.db;
  db.create_if_missing = db.create_missing_column_families = db.error_if_exists = false;
  db.best_efforts_recovery = false;
  db.persist_stats_to_disk = false;
  db.use_direct_reads = db.use_direct_io_for_flush_and_compaction = false;
  db.recycle_log_file_num = 0;
  db.listeners.clear();
  db.wal_filter = nullptr;
  db.db_log_dir = "";
  db.wal_dir = WalDirectory(stored, access);
  db.db_paths = ListPaths(stored.target, access);
  for (rocksdb::ColumnFamilyDescriptor& family : used.families) {
    rocksdb::ColumnFamilyOptions& options = family.options;
    options.cf_paths.clear();
    options.compaction_filter = nullptr;
    options.compaction_filter_factory = nullptr;
    options.sst_partitioner_factory = nullptr;
    options.memtable_factory = std::make_shared<rocksdb::SkipListFactory>();
    options.enable_blob_garbage_collection = false;
    std::erase(options.table_properties_collector_factories, nullptr);
    // Without the listener, its policy refuses to open, also for reading.
    const auto* const policy = rocksdb_plugin::FindPolicy(options);
    if (policy != nullptr && policy->options().filter_memory && db.listeners.empty())
      db.listeners.push_back(NewListener());
    if (options.table_factory == nullptr) {
      options.table_factory.reset(rocksdb::NewBlockBasedTableFactory());
    }
  }
  return used;
}

// Throws if files of the family would be written with other filters than its policy names.
void CheckPolicy(const StoredDatabase& stored, const std::string& family, Access access) {
  const std::string value = stored.Policy(family);
  const auto policy = rocksdb_plugin::Judge(value);
  const std::string has = fmt::format("database {} has filter_policy {} in column family {}",
                                      stored.target.path, value, family);
  if (policy.kind == PolicyEffect::kRefused) {
    term::Fail("{}, which RocksDB refuses: {}; it would write files with other filters", has,
               policy.reason);
  }
  // Rewriting leaves these files alone.
  if (policy.kind == PolicyEffect::kForeign && access == Access::kLoad) {
    term::Fail("{}, which this program does not have; it would write files without filters", has);
  }
}

// Throws if files that are written without objects of other programs would lack something.
void CheckObjects(const StoredDatabase& stored) {
  std::vector<std::string> lost;
  for (const NamedObject& object : stored.loaded.objects) {
    const std::string& option = object.option;
    if (option == "file_checksum_gen_factory") {
      WarnOnce(WhatLacks(stored, object) +
               "; files that this command writes have no such checksum");
    } else if (option == "wal_filter" && HasRowsInWal(stored)) {
      term::Fail(
          "{}, and the WAL has rows that it may drop; open and close the database there first",
          WhatLacks(stored, object));
    }
    if (!stored.target.Has(object.family)) continue;
    if (option == "table_properties_collectors") lost.push_back(object.value);
    // A filter for prefixes can be built only with its extractor.
    if (option == "prefix_extractor" &&
        rocksdb_plugin::Judge(stored.Policy(object.family)).kind != PolicyEffect::kNone) {
      term::Fail("{}; filters that this command writes would lack its prefixes",
                 WhatLacks(stored, object));
    }
  }
  if (lost.empty() || stored.target.drops_properties) return;
  term::Fail(
      "database {} has the table_properties_collectors {}, which only its own program has; files "
      "that this command writes lack their properties; if the program can do without these, use "
      "--drop-properties",
      stored.target.path, fmt::join(lost, ", "));
}

}  // namespace

void WarnOnce(const std::string& text) {
  static std::set<std::string> said;
  if (said.insert(text).second) term::WriteToStandardError("blocksieve: " + text + "\n");
}

uint64_t SizeOfFile(const std::string& path) {
  std::error_code error;
  const auto bytes = fs::file_size(path, error);
  return error ? 0 : bytes;
}

bool IsSameDirectory(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::is_directory(a, error) && fs::equivalent(a, b, error);
}

std::vector<std::string> NamesWithSuffix(const std::string& directory, const char* suffix) {
  std::vector<std::string> names;
  rocksdb::Env::Default()->GetChildren(directory, &names).PermitUncheckedError();
  std::erase_if(names, [&](const std::string& name) { return !name.ends_with(suffix); });
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> DataDirectories(const Target& target) {
  return target.data_dirs.empty() ? std::vector{target.path} : target.data_dirs;
}

const rocksdb::BlockBasedTableOptions* FindTableOptions(
    const rocksdb::ColumnFamilyOptions& family) {
  return family.table_factory == nullptr
             ? nullptr
             : family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
}

bool HasRocksDb(const std::string& path) {
  std::error_code error;
  const bool has = fs::exists(fs::path(path) / "CURRENT", error);
  if (error && error != std::errc::not_a_directory) {
    term::Fail("cannot open database {}: {}", path, error.message());
  }
  return has;
}

void CheckDatabase(const std::string& path) {
  if (HasRocksDb(path)) return;
  std::error_code error;
  if (!fs::exists(path, error)) term::Fail("database {} does not exist", path);
  term::Fail("{} is not a database: it has no file CURRENT", path);
}

bool IsOfLevelDb(const std::string& database) {
  std::error_code error;
  return HasCurrent(database) && OptionsFileNames(database).empty() &&
         !fs::exists(fs::path(database) / "IDENTITY", error);
}

void FailIfOfLevelDb(const std::string& database) {
  if (!IsOfLevelDb(database)) return;
  term::Fail(
      "database {} has neither OPTIONS nor IDENTITY, so LevelDB or a variant of it wrote it, and "
      "not RocksDB; it can only be read, and gets no other filters",
      database);
}

std::map<uint64_t, std::string> OptionsFileNames(const std::string& database,
                                                 const std::string& prefix) {
  std::map<uint64_t, std::string> found;
  std::vector<std::string> names;
  rocksdb::Env::Default()->GetChildren(database, &names).PermitUncheckedError();
  for (const std::string& name : names) {
    if (!name.starts_with(prefix + kPrefix)) continue;
    uint64_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [rest, error] =
        std::from_chars(name.data() + (prefix + kPrefix).size(), end, number);
    if (error == std::errc() && rest == end && number != 0) found[number] = name;
  }
  return found;
}

OptionsText ReadOptionsText(const std::string& path) {
  std::string text;
  term::CheckOk(rocksdb::ReadFileToString(rocksdb::Env::Default(), path, &text), "cannot read {}",
                path);
  return OptionsText(std::move(text), path.substr(path.rfind('/') + 1));
}

std::vector<std::string> StoredDatabase::Families() const {
  std::vector<std::string> names;
  for (const rocksdb::ColumnFamilyDescriptor& family : loaded.families) {
    if (family.name != kStatisticsFamily) names.push_back(family.name);
  }
  return names;
}

std::vector<std::string> StoredDatabase::TargetFamilies() const {
  std::vector<std::string> names = Families();
  if (!target.family) return names;
  if (std::ranges::find(names, *target.family) != names.end()) return {*target.family};
  term::Fail("--column-family is {}, which does not exist; allowed: {}",
             term::Shorten(*target.family), fmt::join(names, ", "));
}

const rocksdb::ColumnFamilyOptions* StoredDatabase::Find(const std::string& family) const {
  return family == kStatisticsFamily ? nullptr : loaded.Find(family);
}

std::optional<std::string> StoredDatabase::Value(const OptionsSection& section,
                                                 const std::string& option) const {
  return text ? text->Find(section, option) : std::nullopt;
}

bool StoredDatabase::has_ttl() const {
  const auto family = OptionsSection::Family(rocksdb::kDefaultColumnFamilyName);
  const std::string filter = Value(family, "compaction_filter").value_or("") +
                             Value(family, "compaction_filter_factory").value_or("");
  return filter.find("TtlCompactionFilter") != filter.npos;  // or its factory
}

StoredDatabase WithText(const Target& target, OptionsText text) {
  return LoadText(target, std::move(text), target.family.value_or(""));
}

StoredDatabase ReadStored(const Target& target) {
  CheckDatabase(target);
  return LoadText(target, LatestText(target.path), "");
}

UsedOptions OptionsToRead(const StoredDatabase& stored) {
  if (!stored.problem.empty()) WarnOnce(stored.problem + "; using default options");
  CheckReadable(stored);
  UsedOptions used = MakePortable(stored, Access::kRead);
  used.has_ttl = stored.has_ttl();
  for (rocksdb::ColumnFamilyDescriptor& family : used.families) {
    if (used.has_ttl) family.options.merge_operator = nullptr;  // DBWithTTL wraps it itself
  }
  return used;
}

void FailIfNoText(const StoredDatabase& stored) {
  if (stored.text) return;
  term::Fail(
      "database {} has no OPTIONS file, which RocksDB writes since 4.3 when a program opens a "
      "database; open it once, or set filter options in its program",
      stored.target.path);
}

void FailIfNotRead(const StoredDatabase& stored) {
  if (!stored.loaded.is_newer) {
    if (stored.problem.empty()) return;
    term::Fail("{}; correct the file, or set filter options in the program that wrote it",
               stored.problem);
  }
  term::Fail(
      "RocksDB {} wrote the options of database {}; this command has RocksDB {}; use one with that "
      "version or a later one",
      stored.loaded.version, stored.target.path, rocksdb::GetRocksVersionAsString());
}

bool HasRowsInWal(const StoredDatabase& stored) {
  const std::string directory = WalDirectory(stored, Access::kRead);
  return std::ranges::any_of(WalFiles(directory), [&](const std::string& name) {
    std::error_code error;
    const auto size = fs::file_size(directory + "/" + name, error);
    return error || size != 0;
  });
}

void CheckOptionsToWrite(const StoredDatabase& stored, Access access) {
  FailIfOfLevelDb(stored.target);  // builds with assertions end when they open one to write
  FailIfNotRead(stored);
  CheckReadable(stored);
  WalDirectory(stored, access);  // may refuse
  const std::vector<std::string> families = stored.TargetFamilies();
  for (const std::string& family : families) {
    const std::string table = stored.text ? stored.text->TableFactory(family) : kBlockBased;
    // Beside other families, nothing is to do for it.
    if (access == Access::kRewrite && table != kBlockBased && families.size() == 1) {
      term::Fail("column family {} has table_factory {}, whose files have no filters; allowed: {}",
                 family, table, kBlockBased);
    }
    CheckPolicy(stored, family, access);
  }
  CheckObjects(stored);
  if (access == Access::kLoad && stored.has_ttl()) {
    term::Fail(
        "database {} is of rocksdb::DBWithTTL, which appends a time to each value; load its "
        "rows in its own program",
        stored.target.path);
  }
}

UsedOptions OptionsToWrite(const StoredDatabase& stored, Access access,
                           const std::map<std::string, std::string>& stock_policies) {
  UsedOptions used = MakePortable(stored, access);
  used.db.paranoid_checks = true;
  for (rocksdb::ColumnFamilyDescriptor& family : used.families) {
    const bool is_target = stored.target.Has(family.name);
    const auto policy = stock_policies.find(family.name);
    const bool stands_in = policy != stock_policies.end();
    if (const auto* const table = FindTableOptions(family.options); stands_in && table != nullptr) {
      rocksdb::BlockBasedTableOptions changed = *table;
      changed.filter_policy = rocksdb_plugin::Judge(policy->second).policy;
      family.options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(changed));
    }
    // Compactions would outdate a plan of files to rewrite; the program does them later.
    if (access == Access::kRewrite || stands_in || !is_target) {
      family.options.disable_auto_compactions = true;
    }
    if (is_target) continue;
    used.db.avoid_flush_during_recovery = used.db.avoid_flush_during_shutdown = true;
  }
  return used;
}

}  // namespace blocksieve::cli
