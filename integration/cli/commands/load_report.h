#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "integration/cli/database/json_table.h"
#include "lib/column/column_set.h"
#include "lib/skip/summary.h"

// The counters and the final report of `load`.

namespace blocksieve::cli {

struct Loaded {
  uint64_t rows_read = 0;
  uint64_t bytes = 0;  // keys and values
  uint64_t rows_with_cr = 0;
  Json values;          // as ColumnCounter counts them
  std::string problem;  // why loading stopped before the end of the file, or empty

  bool is_new = false;                       // the database had no rows before
  std::optional<uint64_t> rows_in_database;  // at the end, if known
};

/// Counts the rows with a value, for each column.
class ColumnCounter {
 public:
  explicit ColumnCounter(std::vector<Column> columns) : columns_(std::move(columns)) {
    with_value_.resize(columns_.columns().size());
  }

  void Count(std::string_view row) {
    ++rows_;
    has_value_.assign(with_value_.size(), 0);
    columns_.ForEachCompared(row, [this](size_t column, const Value&) {
      has_value_[column] = 1;
      return false;
    });
    for (size_t i = 0; i < with_value_.size(); ++i) with_value_[i] += has_value_[i];
  }

  Json Counts() const {
    Json counts = Json::array();
    for (size_t i = 0; i < with_value_.size(); ++i) {
      counts.push_back({{"definition", columns_.columns()[i].ToText()},
                        {"rows_with_value", with_value_[i]},
                        {"rows_without_value", rows_ - with_value_[i]}});
    }
    return counts;
  }

 private:
  internal::ColumnSet columns_;
  uint64_t rows_ = 0;
  std::vector<uint64_t> with_value_;
  std::vector<uint8_t> has_value_;
};

std::string LoadText(const Loaded& loaded, const SkipIndexSummary& indexes);
std::string LoadJson(const Loaded& loaded, const SkipIndexSummary& indexes);

/// Possible mistakes, one per line: parts of indexes that exceed --max-index-bytes, with the limit
/// that would keep them; columns without any value; lines that end with CR.
std::vector<std::string> LoadWarnings(const Loaded& loaded, const SkipIndexSummary& indexes);

}  // namespace blocksieve::cli
