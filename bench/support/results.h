#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/support/measure.h"

namespace blocksieve::bench {

using Json = nlohmann::ordered_json;

/// The machine and this build: "cpu", "cores", "memory_bytes", "operating_system", "rocksdb",
/// "kernel", "compiler" and "build_type".
Json DescribeMachine();

/// The version of the loaded RocksDB, and how its build affects comparisons.
std::string DescribeRocksDb();

/// The results of one benchmark: rows that bench/report shows as tables, plots and a page. A row is
/// {"name", "parameters", "metric", "unit", "value"}; a figure measured in turns (measure.h) also
/// has {"turns", "spread": [low, high]}. Not thread-safe.
///
///   Results results("filters");
///   results.SetFact("stock", "portable");
///   results.Of("stock Bloom", {{"keys", 1'000'000}})
///       .Add("bits per key", "bits", 10)
///       .AddTurns("absent key", "ns", turns);
///   results.Write(options.out);  // filters.json
class Results {
 public:
  /// Adds rows that share name and parameters. Valid as long as its Results.
  class Rows {
   public:
    /// Adds a number without noise, such as a count. One that is not finite is written as missing.
    template <class Number>
    requires std::is_arithmetic_v<Number> Rows& Add(const std::string& metric,
                                                    const std::string& unit, Number value) {
      Append(metric, unit, static_cast<double>(value));
      return *this;
    }
    Rows& Add(const std::string& metric, const std::string& unit, const Spread& spread);
    /// REQUIRES: `turns` is not empty.
    Rows& AddTurns(const std::string& metric, const std::string& unit,
                   const std::vector<double>& turns) {
      return Add(metric, unit, SpreadOf(turns));
    }

   private:
    friend class Results;
    Rows(Results* results, std::string name, Json parameters)
        : results_(results),
          name_(std::move(name)),
          parameters_(parameters.is_null() ? Json::object() : std::move(parameters)) {}

    Json& Append(const std::string& metric, const std::string& unit, double value);

    Results* results_;
    std::string name_;
    Json parameters_;
  };

  /// `benchmark` is the subcommand of bench/run.
  explicit Results(std::string benchmark) : benchmark_(std::move(benchmark)) {}

  /// Sets a number or text that holds for all rows, such as the description of the input.
  void SetFact(const char* name, Json value) { facts_[name] = std::move(value); }

  /// `parameters` is an object of numbers and texts, in the order of the columns that show them.
  Rows Of(std::string name, Json parameters = Json::object()) {
    return {this, std::move(name), std::move(parameters)};
  }

  /// The text of the file: machine, facts, and rows, one per line. Names and keys of an input may
  /// be any bytes; those that are not UTF-8, as JSON must be, are replaced.
  std::string Text() const;

  /// Writes `dir`/<benchmark>.json atomically. Throws Failure.
  void Write(const std::filesystem::path& dir) const;

 private:
  std::string benchmark_;
  Json facts_ = Json::object();
  std::vector<Json> rows_;
};

}  // namespace blocksieve::bench
