#pragma once

#include <rocksdb/status.h>

#include <optional>
#include <string>
#include <vector>

#include "integration/cli/database/filter_setting.h"
#include "integration/cli/database/options_file.h"

// Filter options in OPTIONS files: their sections, and other options that they need.

namespace blocksieve::cli {

/// Sets "NAME=VALUE" in the sections of these column families; adds listeners to the present ones.
/// For a policy, also adds the listener and sets the prefix extractor that it needs, if there is
/// none. Throws UsageError if NAME is not an option of filters or skip indexes, or RocksDB refuses
/// VALUE; Failure if the file lacks the section.
void PutOption(const std::string& option, const std::vector<std::string>& families,
               OptionsFile* file);

/// RocksDB's status for the name and options of an object, parsed strictly. `option` is
/// filter_policy, prefix_extractor, table_properties_collectors, listeners, merge_operator or
/// comparator; `value` is one element of a list.
rocksdb::Status StrictStatus(const std::string& option, const std::string& value);

/// The elements of "{A:B}" or "A"; an element with options in braces stays in one piece.
std::vector<std::string> ElementsOf(std::string_view list);

/// Whether the value of an option names an object of blocksieve, such as its policy.
bool NamesBlocksieve(const std::string& value);

/// Whether the value of an option names no object.
bool IsNone(const std::optional<std::string>& value);

/// Whether any column family has blocksieve's policy.
bool HasPolicyOfBlocksieve(const OptionsFile& file);

/// A `listeners` value without blocksieve's listener.
std::string WithoutListener(const std::string& listeners);

/// The section of a column family's table options.
std::string TableSection(const std::string& family);
std::string FamilySection(const std::string& family);
inline constexpr const char* kDbSection = "DBOptions";

/// The option that requests this setting: "filter_policy={...}".
std::string PolicyOption(const FilterSetting& setting);

/// Whether the OPTIONS file of the database has this policy, and what it needs, in all `families`.
bool HasOptions(const FilterSetting& setting, const std::string& database,
                const std::vector<std::string>& families);

/// The steps to apply a setting to `families`. `has_options`: as above. `only`: the only one, if it
/// was chosen from several.
std::string StepsText(const FilterSetting& setting, bool has_options, const std::string& database,
                      const std::vector<std::string>& families,
                      const std::optional<std::string>& only);

/// Why the policy of a filter_policy value builds no filter at all; "" if it builds some.
std::string WhyNoFilterIsBuilt(const std::string& policy_value);

/// Quotes a text as a word for the shell.
std::string ShellWord(const std::string& text);

}  // namespace blocksieve::cli
