#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/database/database.h"

// Reports are JSON documents; their text shows members of these as tables.

namespace blocksieve::cli {

using Json = nlohmann::ordered_json;

/// How a table shows a member. All show null as "-".
using CellText = std::function<std::string(const Json& value)>;

std::string PlainText(const Json& value);     ///< A text, a number, or texts joined by blanks.
std::string CountText(const Json& value);     ///< "1,234,567"
std::string FileNameText(const Json& value);  ///< The last part of a path.
std::string RateText(const Json& value);      ///< Four digits; "-" for 1, which rules nothing out.
std::string ReadsText(const Json& value);     ///< Three digits.
std::string BitsPerKeyText(const Json& value);  ///< Bits per key: "9.94"; "-" for 0.
std::string ShareText(const Json& value);       ///< "12.3 %"

struct TableColumn {
  std::string header;
  std::string member;  ///< A JSON pointer: "/filter/kind"; "": the whole row.
  CellText text;
};

/// A text table with a line for each row. `with_family`: the first column is the member "family".
std::string TableText(std::vector<TableColumn> columns, const Json& rows, bool with_family = false);

/// The array of what `to_json` makes of each value.
template <class Range, class Function>
Json ToArray(const Range& values, const Function& to_json) {
  Json array = Json::array();
  for (const auto& value : values) array.push_back(to_json(value));
  return array;
}

/// Makes a document of a struct whose members it has under their own names. In its namespace.
#define BLOCKSIEVE_TO_JSON(Type, ...)                                                         \
  static void to_json(nlohmann::ordered_json& nlohmann_json_j, const Type& nlohmann_json_t) { \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))                  \
  }

/// The value, or null.
template <class T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// "blocksieve ribbon", "stock Bloom", "none", "unreadable", from the member "filter" of a file.
std::string FilterName(const Json& filter);

/// A line for each text in these members of files, after the prefix and the name of the file.
std::string NotesText(const Json& files, std::initializer_list<const char*> members,
                      const std::string& prefix = "");

/// A line for each file that another process removed.
std::string VanishedText(const TargetFiles& files);

Json ToJson(const FileReport& file);
Json LevelOrNull(int level);  ///< Null if it is unknown.

/// The first members of a document about files: engine (always "rocksdb") and database or file.
Json DescribeTarget(const Target& target);

/// Adds the members "unopened" and "vanished".
void AddMissed(const TargetFiles& files, Json* document);

/// A table of the files with range filters or prefixes, and an empty line; "" without such files.
/// `one`: "range" or "prefix".
std::string PartTable(const Json& files, const std::string& one, std::vector<TableColumn> columns,
                      bool with_family = false);

/// Files that IsUnfiltered. Those without filters only in column families that have, or had, a
/// policy: in the current or an earlier OPTIONS file, or in other files.
struct Unfiltered {
  /// Numbers of files, and what to do, with commands; "" without such files.
  std::string text = {};
  uint64_t files_without_plugin = 0;  ///< Those without filters.
};

/// `sentence_end`, `command_end`: spaces or line breaks.
Unfiltered FindUnfiltered(const std::vector<FileReport>& files, const Target& target,
                          const std::string& sentence_end, const std::string& command_end);

}  // namespace blocksieve::cli
