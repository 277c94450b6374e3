#pragma once

#include <string>
#include <vector>

namespace blocksieve::bench {

/// A table in plain text: first column to the left, numbers to the right, every column as wide as
/// it needs.
class TextTable {
 public:
  /// Headers may have several lines, separated by '\n'; they stand at the bottom of the header.
  explicit TextTable(std::vector<std::string> headers);

  /// REQUIRES: as many cells as headers.
  void AddRow(std::vector<std::string> cells);

  std::string ToString() const;

 private:
  size_t num_header_rows_ = 0;
  std::vector<std::vector<std::string>> rows_;  // header lines first
};

}  // namespace blocksieve::bench
