#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <string>
#include <vector>

namespace blocksieve::rocksdb_plugin {
class Policy;
}

namespace blocksieve::cli {

/// The options in the latest OPTIONS file of a database, or the defaults without one. Skip index
/// collectors are left out: their columns are recorded in the SSTs.
struct StoredOptions {
  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
};

/// `strict`: throws Failure if the OPTIONS file cannot be read or parsed, or names an object, such
/// as a comparator or filter policy, that this program does not have. Otherwise warns on stderr and
/// uses the defaults, or leaves out the object; opening or reading fails where it is needed.
StoredOptions ReadStoredOptions(const std::string& path, bool strict);

/// blocksieve's policy of a column family; null if it has another one or none.
const rocksdb_plugin::Policy* PolicyOf(const rocksdb::ColumnFamilyOptions& family);

/// Adds blocksieve's listener, unless it is already set.
void AddListener(rocksdb::DBOptions* options);

}  // namespace blocksieve::cli
