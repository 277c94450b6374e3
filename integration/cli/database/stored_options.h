#pragma once

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <string>
#include <vector>

namespace blocksieve::rocksdb_plugin {
class Policy;
}

namespace blocksieve::cli {

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

/// The policy of a column family. Null if it has another one, or none.
const rocksdb_plugin::Policy* PolicyOf(const rocksdb::ColumnFamilyOptions& family);

/// Adds the listener of blocksieve, unless it is there.
void AddListener(rocksdb::DBOptions* options);

}  // namespace blocksieve::cli
