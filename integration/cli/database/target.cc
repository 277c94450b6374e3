// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/database/stored_database.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {
namespace {

namespace fs = std::filesystem;

bool IsDirectory(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool HasWal(const std::string& directory) { return !NamesWithSuffix(directory, ".log").empty(); }

// Whether a database, or its table files, are in the directory.
bool IsDatabase(const std::string& directory) {
  std::error_code error;
  return fs::exists(fs::path(directory) / "CURRENT", error) ||
         !NamesWithSuffix(directory, ".sst").empty();
}

// Why a stored wal_dir is not the WAL directory of the database; "" if it is.
std::string WhyStale(const std::string& stored) {
  if (!fs::path(stored).is_absolute()) return "is relative to the program that wrote it";
  if (!IsDirectory(stored)) return "does not exist";
  if (IsDatabase(stored)) return "is the directory of another database";
  if (!HasWal(stored)) return "has no WAL files";
  return "";
}

// Whether the stored path shows that the WAL was in the database's own directory when it was
// written: its WAL files are here, or it ends in the name of the directory.
bool WasOwn(const Target& target, const std::string& stored) {
  std::error_code error;
  const fs::path last = fs::path(stored).lexically_normal().filename();
  return HasWal(target.path) || last.empty() || last == "." ||
         last == fs::weakly_canonical(target.path, error).filename();
}

std::string GivenWalDirectory(const Target& target) {
  if (target.wal_dir == "none") return target.path;
  const bool is_own = IsSameDirectory(target.wal_dir, target.path);
  if (!is_own && (!IsDirectory(target.wal_dir) || IsDatabase(target.wal_dir))) {
    term::Fail("--wal-dir is {}; allowed: none, or a directory with the WAL of database {} alone",
               target.wal_dir, target.path);
  }
  return target.wal_dir;
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
  return IsDirectory(a) && IsDirectory(b) && fs::equivalent(a, b, error);
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

std::string WalDirectory(const Target& target, const std::string& stored, Access access) {
  if (!target.wal_dir.empty()) return GivenWalDirectory(target);
  if (stored.empty() || IsSameDirectory(stored, target.path)) return target.path;
  const std::string why_stale = WhyStale(stored);
  if (why_stale.empty() && access != Access::kRead) {
    term::Fail(
        "the OPTIONS file of database {} has wal_dir {}, which has WAL files; if they are of this "
        "database and of no copy or original of it, use --wal-dir {}; if not, --wal-dir none",
        target.path, stored, stored);
  }
  if (why_stale.empty()) {
    if (HasWal(target.path)) return target.path;
    WarnOnce(
        fmt::format("rows of database {} are also read from its wal_dir {}", target.path, stored));
    return stored;
  }
  // New rows would get the sequence numbers of those in the missing WAL.
  if (access == Access::kLoad && !WasOwn(target, stored)) {
    term::Fail(
        "the OPTIONS file of database {} has wal_dir {}, which {}; name the directory of its WAL "
        "with --wal-dir, or use --wal-dir none if all rows are flushed",
        target.path, stored, why_stale);
  }
  WarnOnce(fmt::format("ignoring wal_dir {} of the OPTIONS file of database {}, which {}", stored,
                       target.path, why_stale));
  return target.path;
}

std::vector<std::string> DataDirectories(const Target& target) {
  return target.data_dirs.empty() ? std::vector{target.path} : target.data_dirs;
}

}  // namespace blocksieve::cli
