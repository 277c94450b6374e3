#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/database/filter_options.h"
#include "integration/cli/database/json_table.h"
#include "integration/cli/database/open_database.h"

// Changes the OPTIONS file of a closed database, and changes it back. Everything throws Failure;
// for a wrong option, UsageError.

namespace blocksieve::cli {

inline constexpr const char* kPolicy = "filter_policy";
inline constexpr const char* kKept = "blocksieve-";  ///< Prefix of the names of kept files.

/// The OPTIONS files that apply kept under another name, which RocksDB neither loads nor deletes.
class KeptOptions {
 public:
  explicit KeptOptions(const std::string& database);

  /// The newest object, not of blocksieve, that an option of this section named.
  std::optional<std::string> Find(const OptionsSection& section, const std::string& option) const;

  /// The policy recorded for the filters of a family's files; see Record.
  std::optional<std::string> RecordedPolicy(const std::string& family) const;

  const std::vector<OptionsText>& files() const { return files_; }

  /// A comment to append to a kept file: `policy` is the one of PolicyOfFiles.
  static std::string Record(const std::string& family, const std::string& policy);

 private:
  std::vector<OptionsText> files_;  // the newest last
};

struct FiltersOfFiles {
  /// A stock policy with the kind and the bits per key of the stock filters; "" without any.
  std::string stock_policy;
  bool has_ours = false;
};

/// Looks at the largest files of a family: policies that only read filters, or that lost their bits
/// per key on the way through OPTIONS, do not say what filters the program builds.
FiltersOfFiles LookAtFilters(const DatabasePlace& place, const std::string& family);

/// A policy to restore, and where it is from, as a sentence.
struct RestoredPolicy {
  std::string value;
  std::string source;
};

/// The policy for a family whose filters go back to stock ones: `given`, else the kept one if it
/// builds filters or only its own program has it, else one like the filters that the files had.
/// nullopt if the present one stays.
std::optional<RestoredPolicy> PolicyToRestore(const StoredDatabase& stored, const KeptOptions& kept,
                                              const std::string& family,
                                              const std::optional<std::string>& given);

/// Stock policies for the families whose policy builds no filters here: RocksDB may flush them,
/// even those that are not requested.
std::map<std::string, std::string> StandInPolicies(const StoredDatabase& stored);

/// Fails unless RocksDB reads the edited file as intended, and opens a database with it.
void CheckEdited(const StoredDatabase& stored, const EditedOptions& edited);

/// Returns the OPTIONS file with "NAME=VALUE" options set in `family`, or in all column families.
/// Fails if RocksDB would not open the database with it. Writes nothing.
EditedOptions OptionsWith(const StoredDatabase& stored, const std::vector<std::string>& options,
                          const std::optional<std::string>& family);

/// The OPTIONS file with the filter policies and prefix extractors of before blocksieve's.
struct StockOptions {
  EditedOptions options;
  std::vector<std::string> families;  ///< Those that were changed, or looked at.
  std::vector<std::string> notes;     ///< Which policy each family gets, and why.
};

/// `policy`: see PolicyToRestore. Fails if RocksDB would not open the database with the result.
/// Writes nothing.
StockOptions FindStockOptions(const StoredDatabase& stored,
                              const std::optional<std::string>& policy,
                              const std::optional<std::string>& family);

/// The changes of an OPTIONS file, and the name of the file that was written, "" for none, as
/// members of a JSON document.
Json DescribeChanges(const OptionsText& text, const std::string& written);

/// Writes the next OPTIONS file of the database and returns its name; then removes all but two, as
/// RocksDB does. At every moment the newest file is the old or the new text. A previous file whose
/// filter policy or prefix extractor it replaces with blocksieve's is kept under another name, with
/// the bits per key of its filters. `env`: of a lock on the database, or of the open database.
std::string WriteNextOptions(rocksdb::Env* env, const StoredDatabase& stored,
                             const OptionsText& text);

/// Removes the files that WriteNextOptions kept, unless families other than `reverted` need them.
void RemoveKeptOptions(const DatabaseLock& lock, const StoredDatabase& stored,
                       const std::vector<std::string>& reverted);

}  // namespace blocksieve::cli
