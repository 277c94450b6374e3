#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <map>
#include <string>
#include <vector>

#include "integration/cli/database/options_file.h"
#include "integration/rocksdb/policy/policy.h"

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

}  // namespace blocksieve::cli
