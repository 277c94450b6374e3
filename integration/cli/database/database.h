#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "integration/cli/database/stored_database.h"
#include "integration/cli/database/table/table_file.h"
#include "integration/files/files.h"
#include "integration/rocksdb/policy/policy.h"

// Reads a RocksDB by the path of its directory. Writes nothing; another process may have it open.
// Everything throws Failure.

namespace blocksieve::cli {

/// The files of the database by column family and level; level 0 from the newest to the oldest.
/// Some may be missing or damaged. Of a database that only its own program or a later RocksDB can
/// open, the table files in its directories, without their levels; says so on standard error.
std::vector<FilePlace> ListFiles(const Target& target);

/// The size of these files.
uint64_t FileBytes(const Target& target);

/// The size of the block cache by the stored options: 0 without a cache, otherwise RocksDB's
/// default, which the program may have changed.
uint64_t CacheBytes(const Target& target);

/// The files of a target, each open only while it is visited.
struct TargetFiles {
  Target target;
  std::vector<FilePlace> places;

  /// Files that the last visit missed.
  std::vector<FilePlace> vanished = {};    ///< Removed by another process meanwhile.
  std::vector<std::string> unopened = {};  ///< Errors, one for each damaged or missing file.

  /// Visits all files. `doing` names the work in the progress line.
  void ForEach(const std::string& doing, const std::function<void(TableFile*)>& visit);

  /// The reports of all files, in the order of `places`. If another process removes files
  /// meanwhile, lists the files again and reads the new ones, so that all reports belong to one
  /// list. After five attempts, files of the last list may be missed.
  std::vector<FileReport> ReadReports(const std::string& doing);

  void FailIfUnopened() const;  ///< With all errors.
};

/// Throws UsageError, Failure.
TargetFiles FindFiles(const Target& target);

/// Lower and upper bound of Wilson's score interval (1927), with 95 % confidence, for `num_hits` of
/// `num_trials`. Also valid for no hits. REQUIRES: num_hits <= num_trials, num_trials > 0
std::pair<double, double> WilsonInterval(uint64_t num_hits, uint64_t num_trials);

/// The result of checking the filters with one kind of query.
struct QueryCheck {
  uint64_t num_checked = 0;      ///< Queries that match the file.
  uint64_t false_negatives = 0;  ///< Those that the filters ruled out.
  uint64_t num_probed = 0;       ///< Queries that match nothing; 0 if there is no filter.
  uint64_t num_passed = 0;       ///< Those that the filters passed.

  void Count(bool may_match) {
    ++num_checked;
    false_negatives += !may_match;
  }
};

/// The result of checking a file and its filters.
struct FileCheck {
  FileReport file;
  QueryCheck keys;
  QueryCheck ranges;      ///< Short ranges where keys are likely, if there are range filters.
  QueryCheck prefixes;    ///< Ranges with all keys below a prefix, if the filters have prefixes.
  std::string unchecked;  ///< Why some keys were not checked; empty if all were.
  std::vector<std::string> problems;
};

/// Reads the whole file, also if another process removes it meanwhile. Damage becomes a problem,
/// not an exception.
FileCheck CheckFile(TableFile* file, uint64_t num_probes);

// Databases, opened with their stored options through a guarded file system.

using rocksdb_plugin::FindPolicy;

/// Adds blocksieve's listener if the family needs it: its large indexes go to sidecars, or its
/// policy spreads its rates over the levels.
void AddListenerFor(const rocksdb::ColumnFamilyOptions& family, rocksdb::DBOptions* options);

/// An open RocksDB. Everything throws Failure.
class GuardedDb {
 public:
  /// To read and to index, opens read-only, and another process may have the database open. To
  /// write, enables statistics.
  GuardedDb(const Target& target, UsedOptions options);
  ~GuardedDb();
  GuardedDb(GuardedDb&&) = default;

  rocksdb::DB* get() const { return db_.get(); }
  rocksdb::DB* operator->() const { return db_.get(); }

  /// Fails if the column family was not opened with the database.
  rocksdb::ColumnFamilyHandle* FindHandle(const std::string& family) const;

  /// Fails if RocksDB tried to change files elsewhere, which it was kept from.
  void CheckRefused() const;

  /// Runs a compaction in another thread. Until it ends, calls `waiting` ten times a second with
  /// the bytes that compactions have written meanwhile. REQUIRES: open to write
  rocksdb::Status Compact(const std::function<rocksdb::Status()>& compaction,
                          const std::function<void(uint64_t bytes_written)>& waiting) const;

 private:
  std::shared_ptr<files::GuardedFileSystem> files_;
  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

/// Opens an empty database in memory with these options. Fails if RocksDB refuses.
void CheckOpening(const StoredDatabase& stored);

/// Throws Failure if this program must not write files of the target's families: they would lack
/// filters or properties, or need a merge operator that it does not have.
void CheckWritable(const StoredDatabase& stored, Access access);

/// Locks the database against other processes while it exists. Throws Failure if it cannot; it ends
/// with `if_in_use` if one has it open.
class DatabaseLock {
 public:
  explicit DatabaseLock(const std::string& database, const std::string& if_in_use = "");
  ~DatabaseLock();
  DatabaseLock(const DatabaseLock&) = delete;
  DatabaseLock& operator=(const DatabaseLock&) = delete;

  /// An environment that changes only files in the database's directory.
  rocksdb::Env* env() const { return env_.get(); }

 private:
  std::unique_ptr<rocksdb::Env> env_;
  rocksdb::FileLock* lock_ = nullptr;
};

/// Reports that a database cannot be opened or locked, and whether another process has it open: the
/// message ends with `if_in_use`, otherwise with `more`.
[[noreturn]] void FailToOpen(const std::string& path, const rocksdb::Status& status,
                             const std::string& more = "", const std::string& if_in_use = "");

/// Opens a column family to read its rows, or for Access::kIndex. `index`: that of its options.
GuardedDb OpenReadOnly(
    const Target& target, const std::string& family, Access access = Access::kRead,
    const std::shared_ptr<rocksdb::TablePropertiesCollectorFactory>& index = nullptr);

}  // namespace blocksieve::cli
