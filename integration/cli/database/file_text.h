#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

#include "integration/cli/database/database.h"
#include "integration/cli/database/json_table.h"

// Reports on files and totals over them, as table cells and as JSON.

namespace blocksieve::cli {

/// "blocksieve ribbon", "stock Bloom", "none", "unreadable", from the member "filter" of a file.
std::string FilterName(const Json& filter);

/// A line for each file that another process removed.
std::string VanishedText(const TargetFiles& files);

Json ToJson(const FileReport& file);

/// The first members of a document about files: engine (always "rocksdb") and database or file.
Json DescribeTarget(const Target& target);

/// Adds the members "unopened" and "vanished".
void AddMissed(const TargetFiles& files, Json* document);

/// A table of the files with range filters or prefixes, and an empty line; "" without such files.
/// `one`: "range" or "prefix".
std::string PartTable(const Json& files, const std::string& one, std::vector<TableColumn> columns,
                      bool with_family = false);

/// Totals over files, and those of each column family and level, as an array.
Json TotalToJson(const std::vector<FileReport>& files);
Json LevelsToJson(const std::vector<FileReport>& files);

/// The totals of each column family and skip index, as an array.
Json IndexesToJson(const std::vector<FileReport>& files);

/// Files that IsUnfiltered. Those without filters only in column families that have, or had, a
/// policy: in the current or an earlier OPTIONS file, or in other files.
struct Unfiltered {
  std::string text =
      {};  ///< Numbers of files, and what to do, with commands; "" without such files.
  uint64_t files_without_plugin = 0;  ///< Those without filters.
};

/// `sentence_end`, `command_end`: spaces or line breaks.
Unfiltered FindUnfiltered(const std::vector<FileReport>& files, const Target& target,
                          const std::string& sentence_end, const std::string& command_end);

}  // namespace blocksieve::cli
