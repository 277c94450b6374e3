#pragma once

#include <optional>
#include <string>
#include <vector>

#include "integration/cli/database/options_file.h"

namespace rocksdb {
class FileLock;
}

// Changes the OPTIONS file of a closed database, and changes it back. Everything throws Failure;
// for a wrong option, UsageError.

namespace blocksieve::cli {

/// Locks the database against other processes while it exists. Throws Failure if one has it open.
class DatabaseLock {
 public:
  explicit DatabaseLock(const std::string& database);
  ~DatabaseLock();
  DatabaseLock(const DatabaseLock&) = delete;
  DatabaseLock& operator=(const DatabaseLock&) = delete;

 private:
  rocksdb::FileLock* lock_ = nullptr;
};

/// Returns the latest OPTIONS file with "NAME=VALUE" options set in `family`, or in all column
/// families. Writes nothing.
OptionsFile OptionsWith(const std::string& database, const std::vector<std::string>& options,
                        const std::optional<std::string>& family);

/// Returns the latest OPTIONS file with the options that WriteNextOptions kept from before the
/// first blocksieve policy. `policy`: for column families without kept options. Writes nothing.
OptionsFile StockOptions(const std::string& database, const std::string& policy,
                         const std::optional<std::string>& family);

/// Writes the next OPTIONS file of the database and returns its name. If the previous one has no
/// blocksieve policy, it is also kept under another name, as RocksDB deletes old OPTIONS files.
/// REQUIRES: the database is locked.
std::string WriteNextOptions(const std::string& database, const OptionsFile& file);

/// Removes the files that WriteNextOptions kept.
void RemoveKeptOptions(const std::string& database);

}  // namespace blocksieve::cli
