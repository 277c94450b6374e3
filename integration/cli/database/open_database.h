#pragma once

#include <rocksdb/db.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/cli/database/stored_options.h"
#include "integration/cli/term/failure.h"
#include "lib/skip/summary.h"

namespace blocksieve::cli {

/// An open RocksDB. Everything throws Failure.
class Database {
 public:
  /// kRead writes nothing, not even a log; another process may have the database open. kWrite
  /// enables statistics, and fails if there is a reason for WhyNotRewritten.
  enum class Mode { kRead, kWrite };
  Database(const std::string& path, StoredOptions options, Mode mode);
  ~Database();
  Database(Database&&) = default;

  rocksdb::DB* get() const { return db_.get(); }
  rocksdb::DB* operator->() const { return db_.get(); }

  const std::vector<rocksdb::ColumnFamilyHandle*>& handles() const { return handles_; }

  /// Fails if the column family was not opened with the database.
  rocksdb::ColumnFamilyHandle* HandleOf(const std::string& family) const;

  /// Runs a compaction in another thread. Until it ends, calls `waiting` ten times a second with
  /// the bytes that compactions have written meanwhile. REQUIRES: kWrite
  rocksdb::Status Compact(const std::function<rocksdb::Status()>& compaction,
                          const std::function<void(uint64_t bytes_written)>& waiting) const;

 private:
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
};

/// Opens an empty database in memory with the options of `file`, as RocksDB would open the database
/// at `path` with them. Fails if RocksDB refuses.
void CheckOpening(const std::string& path, const OptionsFile& file);

/// Why this program cannot rewrite files of the database: they have operands of a merge operator
/// that it does not have, and RocksDB does not copy them. "" if it can.
std::string WhyNotRewritten(const std::string& path);

/// Reports WhyNotRewritten on standard error, for commands that lead to a rewrite.
void WarnIfNotRewritten(const std::string& path);

/// Another process has the database open.
class InUse : public term::Failure {
 public:
  using Failure::Failure;
};

/// Reports that a database cannot be opened or locked, and whether another process has it open.
[[noreturn]] void FailToOpen(const std::string& path, const rocksdb::Status& status,
                             const std::string& more = "");

/// Whether the directory has a RocksDB database. Throws Failure if that is unknown.
bool HasRocksDb(const std::string& path);

/// Opens a column family for reading, with `index`, if not null, in its options.
Database OpenReadOnly(const std::string& path, const std::string& family,
                      std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> index = nullptr);

/// The files of the database in all column families. Some may be missing or damaged.
std::vector<rocksdb::LiveFileMetaData> LiveFiles(const std::string& path);

/// The indexes of a column family.
SkipIndexSummary IndexesOf(const Database& db, const std::string& family);

}  // namespace blocksieve::cli
