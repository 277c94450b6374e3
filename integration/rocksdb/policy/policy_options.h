#pragma once

#include <rocksdb/convenience.h>
#include <rocksdb/status.h>
#include <rocksdb/utilities/options_type.h>

#include <string>
#include <unordered_map>

#include "blocksieve/rate_allocation.h"
#include "blocksieve/rocksdb/filter_policy.h"

// FilterPolicyOptions as text, for RocksDB's option strings and OPTIONS files. A number that is
// written reads as the same number, in any locale.

namespace blocksieve::rocksdb_plugin {

/// Errors: InvalidArgument. It names the option, its value and the allowed range, or the options
/// that exclude each other.
rocksdb::Status ValidatePolicyOptions(const FilterPolicyOptions& options);

/// The filter goal that the options state, or target_fpr=0.01 if they state none.
RateGoal GoalOf(const FilterPolicyOptions& options);

/// How RocksDB parses, writes and compares each option. Lives as long as the process.
const std::unordered_map<std::string, rocksdb::OptionTypeInfo>& PolicyOptionTypes();

/// Why an option cannot be set to a value: there is no such option, or it does not take the value.
/// Empty if it can.
std::string PolicyOptionProblem(const rocksdb::ConfigOptions& config_options,
                                const std::string& name, const std::string& value);

/// The options in effect, one per line, as RocksDB's info log prints those of a table.
std::string DescribePolicyOptions(const FilterPolicyOptions& options);

}  // namespace blocksieve::rocksdb_plugin
