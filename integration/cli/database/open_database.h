#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "integration/cli/database/stored_database.h"
#include "integration/files/files.h"
#include "integration/rocksdb/policy/policy.h"

// Databases, opened with their stored options through a guarded file system.

namespace blocksieve::cli {

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

/// The files of the database in all column families. Some may be missing or damaged. Throws
/// CannotOpen if only its own program, or a later RocksDB, can open it.
std::vector<rocksdb::LiveFileMetaData> LiveFiles(const Target& target);

}  // namespace blocksieve::cli
