#pragma once

#include <rocksdb/status.h>

#include <string>
#include <vector>

#include "integration/cli/database/filter_setting.h"
#include "integration/cli/database/options_file.h"

// Where the options of filters stand in an OPTIONS file, and what goes with them.

namespace blocksieve::cli {

/// Puts "NAME=VALUE" into the sections of these column families, and the listener beside a policy
/// that spreads memory over the levels. Throws UsageError if the name is not one of filters and
/// skip indexes, or RocksDB does not take the value; Failure if the file has no such section.
void PutOption(const std::string& option, const std::vector<std::string>& families,
               OptionsFile* file);

/// What RocksDB says of an object's name and options if it may drop nothing in silence. `option` is
/// filter_policy, prefix_extractor, table_properties_collectors or listeners; `value` is one
/// element of a list.
rocksdb::Status StrictStatus(const std::string& option, const std::string& value);

/// The elements of "{A:B}" or "A"; those of elements with options of their own stay together.
std::vector<std::string> ElementsOf(std::string_view list);

/// Whether a value of filter_policy is a policy of blocksieve.
bool NamesBlocksieve(const std::string& policy);

/// Whether a column family has one.
bool HasPolicyOfBlocksieve(const OptionsFile& file);

/// The value of `listeners` without blocksieve's.
std::string WithoutListener(const std::string& listeners);

/// The section of a column family's table options.
std::string TableSection(const std::string& family);
std::string FamilySection(const std::string& family);
inline constexpr const char* kDbSection = "DBOptions";

/// What to write into the options of a database so that its filters are built by this setting.
std::string PolicyOption(const FilterSetting& setting);

/// The steps from an option to filters, for people. `family`: "" if there is only one.
std::string StepsText(const FilterSetting& setting, const std::string& database,
                      const std::string& family);

/// As a word of a shell's command line.
std::string ShellWord(const std::string& text);

}  // namespace blocksieve::cli
