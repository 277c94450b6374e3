#pragma once

#include <string>
#include <vector>

// Where a database is, by the command line. OPTIONS files also name directories, but those may be
// of another machine, another program, or the original of a copy.

namespace blocksieve::cli {

struct DatabasePlace {
  std::string path;                         ///< The directory of the database.
  std::string wal_dir = "";                 ///< --wal-dir: a directory, "none", or "" if not given.
  std::vector<std::string> data_dirs = {};  ///< --data-dir: DBOptions::db_paths, in their order.

  operator const std::string&() const { return path; }  // NOLINT: a path with more
};

/// What a subcommand does to a database.
enum class Access {
  kRead,
  kRewrite,  ///< Replaces files by others with the same rows.
  kLoad,     ///< Adds rows.
};

/// The directory with the WAL of the database: its own, or another one. `stored` is wal_dir of its
/// OPTIONS file, "" for none. RocksDB up to 6.22 stored the database's own path as the program gave
/// it, which is stale in a copy. Reports a stale path on standard error, once.
///
/// Throws Failure if rows may be in a WAL elsewhere and `access` must not guess; the message names
/// --wal-dir. Opening a database to write deletes the WAL files and table files in its WAL
/// directory that it does not know.
std::string WalDirectory(const DatabasePlace& place, const std::string& stored, Access access);

/// The directories of table files in the order of DBOptions::db_paths.
std::vector<std::string> DataDirectories(const DatabasePlace& place);

/// Whether two paths are the same existing directory.
bool IsSameDirectory(const std::string& a, const std::string& b);

/// Names in a directory with this suffix, sorted; empty if it cannot be read.
std::vector<std::string> NamesWithSuffix(const std::string& directory, const char* suffix);

/// Prints a message on standard error, unless it was printed before: a command may read the options
/// several times.
void WarnOnce(const std::string& text);

}  // namespace blocksieve::cli
