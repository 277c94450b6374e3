#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/options_util.h>

#include <memory>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/skip_index.h"

namespace blocksieve::cli {

/// Whether the directory has a RocksDB database.
bool HasRocksDb(const std::string& path);

/// The options with which a database was last opened, from its OPTIONS file; the default ones if it
/// has none. Collectors of skip indexes are left out: their columns are recorded in the files only.
struct StoredOptions {
  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
};

/// `strict`: throws Failure if the OPTIONS file cannot be read or parsed, or names a comparator,
/// merge operator, filter policy or the like that this program does not have. Otherwise takes the
/// default options instead and says so on stderr, or leaves out what it does not have, and opening
/// or reading fails where it is needed.
StoredOptions ReadStoredOptions(const std::string& path, bool strict);

/// Keeps RocksDB from writing a file LOG into a database that is only read.
std::shared_ptr<rocksdb::Logger> NoLog();

/// Opens the default column family for reading. Nothing is written, not even a log, and another
/// process may have the database open. `index`, if not null, is in its options. Throws Failure.
std::unique_ptr<rocksdb::DB> OpenReadOnly(
    const std::string& path,
    std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> index = nullptr);

/// The files of the database in all column families. Some may be missing or damaged. Throws
/// Failure.
std::vector<rocksdb::LiveFileMetaData> LiveFiles(const std::string& path);

/// The indexes of the default column family. Throws Failure, which names the path.
SkipIndexSummary IndexesOf(rocksdb::DB* db, const std::string& path);

}  // namespace blocksieve::cli
