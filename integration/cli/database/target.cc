// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/database/stored_database.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

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
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename();
    if (name.ends_with(suffix)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> WalFiles(const std::string& directory) {
  std::vector<std::string> names = NamesWithSuffix(directory, ".log");
  std::erase_if(names, [](const std::string& name) { return NumberOf(name) == 0; });
  return names;
}

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

std::vector<std::string> DataDirectories(const Target& target) {
  return target.data_dirs.empty() ? std::vector{target.path} : target.data_dirs;
}

}  // namespace blocksieve::cli
