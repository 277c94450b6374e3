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

/// Sums up the skip indexes of files, which come from the oldest to the newest.
class SkipIndexSummarizer {
 public:
  /// @{
  /// A file with a usable index, of so many bytes in the file.
  /// Errors: ResourceExhausted, as of AddDefinition.
  Status AddIndex(const GranuleIndex& index, uint64_t num_bytes);
  Status AddIndex(std::span<const GranuleColumnInfo> columns, uint64_t num_bytes);
  /// @}

  /// How large max_index_bytes would have to be for a file of which something was left out.
  void AddNeededBytes(uint64_t bytes);

  /// A file without one: "000012.sst: reason".
  void AddProblem(std::string problem);

  /// A column that the file last added was to have, though its index did not come about.
  Status AddDefinition(std::string_view definition);

  /// To be called once.
  SkipIndexSummary Finish();

 private:
  SkipIndexSummary summary_;
  std::map<std::string, SkipIndexColumnUsage, std::less<>> usage_;  // by definition
  std::map<std::string, Column> columns_;                           // by name
};

}  // namespace blocksieve::internal
