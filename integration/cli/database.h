#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/options_util.h>

#include <memory>
#include <string>
#include <vector>

namespace blocksieve::cli {

/// What is at a path.
enum class DatabasePlace { kMissing, kEmptyDirectory, kDatabase, kOther };

/// Throws Failure if it cannot be looked at.
DatabasePlace LookAt(const std::string& path);

/// The options with which a database was opened last, from its OPTIONS file; of one without such a
/// file, the usual ones. Without collectors of skip indexes, whose columns stand in the files only.
struct StoredOptions {
  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
};

/// `strict`: a comparator, merge operator or the like that this program does not have is a failure;
/// otherwise it is left out, and opening or reading fails where it is needed.
/// Throws Failure.
StoredOptions ReadStoredOptions(const std::string& path, bool strict);

/// Opens the default column family for reading. Nothing is written, not even a log, and another
/// process may have the database open. Throws Failure, if there is none, too.
std::unique_ptr<rocksdb::DB> OpenReadOnly(const std::string& path);

}  // namespace blocksieve::cli
