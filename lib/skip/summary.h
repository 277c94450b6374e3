#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "blocksieve/column.h"
#include "blocksieve/skip_index.h"
#include "blocksieve/status.h"
#include "lib/granule/granule_index.h"

namespace blocksieve::internal {

/// Sums up the skip indexes of files, which must be added from the oldest to the newest.
class SkipIndexSummarizer {
 public:
  /// @{
  /// Adds a file with a usable index of `num_bytes`. Errors: ResourceExhausted (memory).
  Status AddIndex(const GranuleIndex& index, uint64_t num_bytes);
  Status AddIndex(std::span<const GranuleColumnInfo> columns, uint64_t num_bytes);
  /// @}

  /// For a file whose index is incomplete: adds the max_index_bytes that would complete it.
  void AddNeededBytes(uint64_t bytes);

  /// Adds a file without a usable index: "000012.sst: reason".
  void AddProblem(std::string problem);

  /// Adds a column of the file added last, whose options define the column although its index was
  /// not built. Errors: ResourceExhausted (memory).
  Status AddDefinition(std::string_view definition);

  /// REQUIRES: Finish() has not been called
  SkipIndexSummary Finish();

 private:
  SkipIndexSummary summary_;
  std::map<std::string, SkipIndexColumnUsage, std::less<>> usage_;  // by definition
  std::map<std::string, Column> columns_;                           // by name
};

}  // namespace blocksieve::internal
