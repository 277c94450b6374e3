#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <deque>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "bench/support/measure.h"

namespace blocksieve::bench {

using Json = nlohmann::ordered_json;

/// A number without noise, such as a count, or the spread of several turns.
struct Figure {
  template <class Number>
  requires std::is_arithmetic_v<Number> Figure(Number number) {
    spread.median = static_cast<double>(number);
  }
  Figure(const Spread& turns) : spread(turns) {}
  /// REQUIRES: `turns` is not empty.
  Figure(const std::vector<double>& turns) : spread(SpreadOf(turns)) {}

  Spread spread;
};

/// A target of a figure, which the report compares with it.
struct Target {
  std::optional<double> at_most = {};
  std::optional<double> at_least = {};
};
inline Target NotAbove(double limit) { return {.at_most = limit}; }
inline Target NotBelow(double limit) { return {.at_least = limit}; }

/// A line of a table.
struct Line {
  std::string name;
  Json cells = Json::array();

  /// Adds a figure in a column. The unit determines its format: "bytes", "s", "share" (per cent),
  /// "count", "x" (a ratio, which is compared with 1), "bits" (four digits); all others, such as
  /// "ns", are shown with the name of the column. One that is not finite is shown as missing.
  Line& Add(const std::string& column, const std::string& unit, const Figure& figure,
            const Target& target = {});
};

/// A table of figures. References to its lines stay valid.
struct Table {
  std::string caption;
  std::string head;  ///< Heading of the names of lines.
  std::string note;
  std::deque<Line> lines = {};

  /// The line of this name, added if it is new.
  Line& operator[](const std::string& name);
};

/// The machine and this build: "cpu", "cores", "memory_bytes", "operating_system", "rocksdb",
/// "kernel", "compiler" and "build_type".
Json DescribeMachine();

/// The version of the loaded RocksDB, and how its build affects comparisons.
std::string DescribeRocksDb();

/// The results of one benchmark: tables that bench/report prints and shows on a page. Not
/// thread-safe.
///
///   Results results("filters");
///   results.headline = "0.5 times the time of stock Bloom per absent key";
///   Table& sizes = results.In("Sizes", "Filter");
///   sizes["stock Bloom"].Add("bits per key", "bits", 10).Add("absent key", "ns", turns);
///   results.Write(options.out);  // filters.json
class Results {
 public:
  /// `benchmark` is the subcommand of bench/run.
  explicit Results(std::string benchmark) : benchmark_(std::move(benchmark)) {}

  std::string title;
  std::string lead;      ///< What was measured, and the terms of the tables; one line a paragraph.
  std::string headline;  ///< The main figure, its meaning, and its inputs.
  bool has_limits = true;  ///< Whether targets apply, which are made for jobs without --quick.

  /// The table of this caption, added if it is new. `head` is the heading of the names of lines.
  /// References to it stay valid.
  Table& In(const std::string& caption, std::string head = "", std::string note = "");

  /// The text of the file. `seconds`: the time that the job took. Names and keys of an input may be
  /// any bytes; those that are not UTF-8, as JSON must be, are replaced.
  std::string Text(double seconds) const;

  /// Writes `dir`/<benchmark>.json atomically. Throws if that fails.
  void Write(const std::filesystem::path& dir, double seconds) const;

 private:
  std::string benchmark_;
  std::deque<Table> tables_;
};

}  // namespace blocksieve::bench
