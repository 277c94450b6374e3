#pragma once

#include <optional>
#include <string>
#include <vector>

#include "integration/cli/database/json_table.h"
#include "integration/cli/database/options_file.h"

namespace rocksdb {
class FileLock;
}

// Changes the OPTIONS file of a closed database, and changes it back. Everything throws Failure;
// for a wrong option, UsageError.

namespace blocksieve::cli {

/// Locks the database against other processes while it exists. Throws Failure if it cannot, such as
/// if one has it open.
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

/// Returns the latest OPTIONS file with the filter policies and prefix extractors that
/// WriteNextOptions kept. `policy`: for column families with blocksieve's policy that had none.
/// Fails if RocksDB would not open the database with it. Writes nothing.
OptionsFile StockOptions(const std::string& database, const std::string& policy,
                         const std::optional<std::string>& family);

/// The changes of an OPTIONS file, and the name of the file that was written, "" for none, as
/// members of a JSON document.
Json DescribeChanges(const OptionsFile& file, const std::string& written);

/// Whether WriteNextOptions kept a filter policy of the column family.
bool HadPolicy(const std::string& database, const std::string& family);

/// Writes the next OPTIONS file of the database and returns its name. If it replaces a filter
/// policy or prefix extractor with blocksieve's, the previous file is also kept under another name:
/// RocksDB deletes old OPTIONS files, and other programs may write files without these options.
/// REQUIRES: the database is locked.
std::string WriteNextOptions(const std::string& database, const OptionsFile& file);

/// Removes the files that WriteNextOptions kept, if `current` names what they name.
void RemoveKeptOptions(const std::string& database, const OptionsFile& current);

}  // namespace blocksieve::cli
