#pragma once

#include <optional>
#include <string>
#include <vector>

#include "integration/cli/database/options_file.h"

namespace rocksdb {
class FileLock;
}

// Changing the OPTIONS file of a database that no process has open, and changing it back.
// Everything throws Failure; what is about an option, UsageError.

namespace blocksieve::cli {

/// Keeps other processes from opening the database, as long as it lives. Throws Failure if one has
/// it open.
class DatabaseLock {
 public:
  explicit DatabaseLock(const std::string& database);
  ~DatabaseLock();
  DatabaseLock(const DatabaseLock&) = delete;
  DatabaseLock& operator=(const DatabaseLock&) = delete;

 private:
  rocksdb::FileLock* lock_ = nullptr;
};

/// The latest OPTIONS file with "NAME=VALUE" options in these column families; of all that it
/// names, if none are given. Nothing is written.
OptionsFile OptionsWith(const std::string& database, const std::vector<std::string>& options,
                        const std::optional<std::string>& family);

/// The latest OPTIONS file with what it had before blocksieve's policy came into it, as
/// WriteNextOptions kept it. `policy`: for column families of which nothing was kept. Nothing is
/// written.
OptionsFile StockOptions(const std::string& database, const std::string& policy,
                         const std::optional<std::string>& family);

/// Writes the database's next OPTIONS file, and returns its name. The previous one stays where it
/// is, and, as RocksDB removes old ones, is also kept under another name if it has no policy of
/// blocksieve. The database must be locked.
std::string WriteNextOptions(const std::string& database, const OptionsFile& file);

/// Removes what WriteNextOptions kept.
void RemoveKeptOptions(const std::string& database);

}  // namespace blocksieve::cli
