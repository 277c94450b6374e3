#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/database/filter_options.h"
#include "integration/cli/database/report.h"

// Changes the OPTIONS file of a closed database, and changes it back. Everything throws Failure;
// for a wrong option, UsageError.

namespace blocksieve::cli {

/// Stock policies for the families whose policy builds no filters here: RocksDB may flush them,
/// even those that are not requested.
std::map<std::string, std::string> StandInPolicies(const StoredDatabase& stored);

/// Whether a file that apply kept names or records another policy than blocksieve's for the family.
bool HadPolicy(const std::string& database, const std::string& family);

/// Fails unless RocksDB reads the edited file as intended, and opens a database with it.
void CheckEdited(const StoredDatabase& stored, const OptionsText& edited);

/// Returns the OPTIONS file with "NAME=VALUE" options set in the column families of the target.
/// Fails if RocksDB would not open the database with it. Writes nothing.
OptionsText OptionsWith(const StoredDatabase& stored, const std::vector<std::string>& options);

/// The OPTIONS file with what Enable sets in the column families of the target, beside collectors
/// and listeners of other programs. `carriers`: gets a line for each family with ranges, prefixes
/// or columns. Fails as Enable does, and as OptionsWith. Writes nothing.
OptionsText EnabledOptions(const StoredDatabase& stored, const EnableOptions& features,
                           std::string* carriers);

/// The OPTIONS file with the filter policies and prefix extractors of before blocksieve's, in the
/// column families of the target. `policy`: in place of the one that a family had, or that is like
/// the filters of its files. `notes`: which policy each family gets, and why. Fails if RocksDB
/// would not open the database with the result. Writes nothing.
OptionsText StockOptions(const StoredDatabase& stored, const std::optional<std::string>& policy,
                         std::vector<std::string>* notes);

/// The changes of an OPTIONS file, and the name of the file that was written, "" for none, as
/// members of a JSON document.
Json DescribeChanges(const OptionsText& text, const std::string& written);

/// Writes the next OPTIONS file of the database and returns its name; then removes all but two, as
/// RocksDB does. At every moment the newest file is the old or the new text. A previous file whose
/// filter policy or prefix extractor it replaces with blocksieve's is kept under another name, with
/// the bits per key of its filters. `env`: of a lock on the database, or of the open database.
std::string WriteNextOptions(rocksdb::Env* env, const StoredDatabase& stored,
                             const OptionsText& text);

/// Removes the files that WriteNextOptions kept, unless families other than the target's need them.
void RemoveKeptOptions(const DatabaseLock& lock, const StoredDatabase& stored);

}  // namespace blocksieve::cli
