#pragma once

#include <string>
#include <vector>

#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/rocksdb/maintenance.h"
#include "blocksieve/tree.h"
#include "integration/rocksdb/maintenance/seek_sample.h"

// The files of a column family whose filters would improve if they were rewritten.

namespace blocksieve::rocksdb_plugin {

/// Plans to rewrite the files whose filters this policy would improve, or give other range filters
/// or prefixes. `tree`: one of TreesOf(files). REQUIRES: it has keys. Errors: as AllocateRates.
Result<FilterPlan> PlanRewrites(const std::vector<FileReport>& files, const Tree& tree,
                                const FilterPolicyOptions& policy,
                                const RewriteFiltersOptions& options,
                                const KeysOfFile& keys_of_file);

/// Whether a file is among those that the options select.
bool IsChosen(const RewriteFiltersOptions& options, const FileReport& file);

/// What filters of a policy answer for ranges with, as in its options, or "none".
std::string PartsText(const FilterPolicyOptions& policy);

}  // namespace blocksieve::rocksdb_plugin
