#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/rocksdb/enable.h"
#include "blocksieve/tree.h"
#include "integration/cli/database/stored_database.h"

// Filter options in OPTIONS files: their sections, and other options that they need.

namespace blocksieve::cli {

/// The changed options, as a diff with their sections.
std::string ChangesText(const OptionsText& options);

/// OptionsText::Set. Throws Failure.
void SetOption(const OptionsSection& section, const std::string& option, const std::string& value,
               OptionsText* options);

/// Sets "NAME=VALUE" in the sections of these column families; adds listeners to the present ones.
/// For a policy, also adds the listener and the prefix extractor that it needs. Leaves a policy
/// with the same options as it is. Throws UsageError if NAME is not an option of filters or skip
/// indexes, or RocksDB refuses VALUE; Failure if the file lacks the section.
void PutOption(const std::string& option, const std::vector<std::string>& families,
               OptionsText* options);

using Collectors = decltype(rocksdb::ColumnFamilyOptions::table_properties_collector_factories);

/// Sets those of blocksieve in this list, in place of those that the file names.
void PutCollectors(const std::string& family, const Collectors& collectors, OptionsText* options);

/// Whether the value of an option names an object of blocksieve, such as its policy.
bool NamesBlocksieve(const std::optional<std::string>& value);

/// Whether the value of an option names no object.
bool IsNone(const std::optional<std::string>& value);

/// A `listeners` value without blocksieve's listener.
std::string WithoutListener(const std::string& listeners);

/// Adds the collector that names block indexes to PruneReads, if they have columns, or removes it.
void PutFileIds(const std::string& family, bool has_columns, rocksdb_plugin::OptionsText* options);

/// The goal of a policy: {"bits_per_key", 9.98}, and "bits_per_key=9.98".
std::pair<const char*, double> GoalOption(const EnableOptions& policy);
std::string GoalText(const EnableOptions& policy);

/// "prefixes and range filters"; "" without both.
std::string DescribeParts(const EnableOptions& policy);

/// The option that requests this policy: "filter_policy={...}".
std::string PolicyOption(const EnableOptions& policy);

/// Why the policy of a filter_policy value builds no filter at all; "" if it builds some.
std::string WhyNoFilterIsBuilt(const std::string& policy_value);

/// Quotes a text as a word for the shell.
std::string ShellWord(const std::string& text);

}  // namespace blocksieve::cli
