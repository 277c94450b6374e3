#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace blocksieve::term {

/// A plain-text table. The first column is left-aligned, the others right-aligned.
class TextTable {
 public:
  enum class Rule { kNone, kUnderHeaders };

  /// A header may have several lines, separated by '\n'; shorter ones are aligned to the bottom.
  /// REQUIRES: at least one header.
  explicit TextTable(const std::vector<std::string>& headers, Rule rule = Rule::kNone);

  /// REQUIRES: as many cells as headers.
  void AddRow(std::vector<std::string> cells);

  /// Lines end with '\n' and have no trailing spaces.
  std::string ToString() const;

 private:
  Rule rule_;
  size_t num_header_rows_ = 1;
  std::vector<std::vector<std::string>> rows_;  // lines of headers first
};

}  // namespace blocksieve::term
