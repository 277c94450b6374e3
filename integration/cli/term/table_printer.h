#pragma once

#include <string>
#include <vector>

namespace blocksieve::cli {

/// A table in plain text: first column to the left, others to the right, each as wide as it needs.
class TablePrinter {
 public:
  explicit TablePrinter(std::vector<std::string> headers) { rows_.push_back(std::move(headers)); }

  /// REQUIRES: as many cells as headers.
  void AddRow(std::vector<std::string> cells);

  std::string ToString() const;

 private:
  std::vector<std::vector<std::string>> rows_;  // the first are the headers
};

}  // namespace blocksieve::cli
