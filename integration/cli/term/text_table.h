#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace blocksieve::term {

/// A table in plain text: the first column is aligned to the left, the others to the right; each is
/// as wide as it needs to be.
class TextTable {
 public:
  enum class Rule { kNone, kUnderHeaders };

  /// A header may have several lines, separated by '\n'; shorter ones stand at the bottom.
  /// REQUIRES: at least one header.
  explicit TextTable(const std::vector<std::string>& headers, Rule rule = Rule::kNone);

  /// REQUIRES: as many cells as headers.
  void AddRow(std::vector<std::string> cells);

  /// Every line ends with '\n', and none with spaces.
  std::string ToString() const;

 private:
  Rule rule_;
  size_t num_header_rows_ = 1;
  std::vector<std::vector<std::string>> rows_;  // lines of headers first
};

}  // namespace blocksieve::term
