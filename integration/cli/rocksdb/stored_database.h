#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/options_util.h>

#include <memory>
#include <string>
#include <vector>

#include "blocksieve/rocksdb/skip_index.h"

namespace blocksieve::cli {

/// Whether the directory has one.
bool HasRocksDb(const std::string& path);

/// The options with which a database was opened last, from its OPTIONS file; of one without such a
/// file, the usual ones. Without collectors of skip indexes, whose columns stand in the files only.
struct StoredOptions {
  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
};

/// `strict`: a comparator, merge operator or the like that this program does not have is a failure;
/// otherwise it is left out, and opening or reading fails where it is needed. So is a file that
/// cannot be read or parsed; otherwise the usual options are taken, and stderr says so.
/// Throws Failure.
StoredOptions ReadStoredOptions(const std::string& path, bool strict);

/// Opens the default column family for reading. Nothing is written, not even a log, and another
/// process may have the database open. Throws Failure.
std::unique_ptr<rocksdb::DB> OpenReadOnly(const std::string& path);

/// The indexes of the default column family. Throws Failure, which names the path.
SkipIndexSummary IndexesOf(rocksdb::DB* db, const std::string& path);

}  // namespace blocksieve::cli
