#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/database/stored_database.h"

// The filter policies that a database had before blocksieve's. Everything throws Failure.

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

}  // namespace blocksieve::cli
