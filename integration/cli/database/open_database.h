#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/cli/database/options_file.h"
#include "integration/cli/term/failure.h"
#include "integration/rocksdb/policy/policy.h"
#include "lib/skip/summary.h"

// The stored options of databases, and databases opened with them.

namespace blocksieve::cli {

using rocksdb_plugin::PolicyOf;

/// The options in the latest OPTIONS file of a database, or the defaults without one. Skip index
/// collectors are left out: their columns are recorded in the SSTs.
struct StoredOptions {
  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
};

/// RocksDB's options of an OPTIONS file. `strict`: an unknown option or object is an error.
rocksdb::Status ParseOptions(const OptionsFile& file, bool strict, StoredOptions* options);

/// Throws Failure if a comparator in the OPTIONS file is not in this program: without it, RocksDB
/// does not open the database at `path`.
void CheckComparators(const std::string& path, const OptionsFile& file);

/// `strict`: throws Failure if the OPTIONS file cannot be read or parsed, or names an object, such
/// as a comparator or filter policy, that this program does not have; only a merge operator is
/// replaced by one of the same name that merges nothing. Otherwise warns on stderr and
/// uses the defaults, or leaves out the object; opening or reading fails where it is needed. Throws
/// Failure if this program does not have a comparator.
StoredOptions ReadStoredOptions(const std::string& path, bool strict);

/// The merge operators that this program does not have, by column family.
std::map<std::string, std::string> ForeignMergeOperators(const std::string& path);

/// Adds blocksieve's listener, unless it is already set.
void AddListener(rocksdb::DBOptions* options);

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
