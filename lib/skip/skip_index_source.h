#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "blocksieve/column.h"
#include "lib/granule/granule_index.h"

namespace blocksieve {

/// Reads a skip index that is not in memory. Engines implement it over their storage.
class SkipIndexSource {
 public:
  virtual ~SkipIndexSource() = default;

  /// Size of the whole index.
  virtual uint64_t num_bytes() const = 0;

  /// Fills `to` with the bytes from `offset`; callers pass errors on. REQUIRES: within num_bytes()
  virtual Status Read(uint64_t offset, std::span<uint8_t> to) = 0;
};

/// Reads the granules and the given `columns` (by definition) of an index, but not its other
/// columns, as a predicate needs few. Returns an index without those, for SkipIndex::Open.
///
/// Errors: those of the source; Corruption (header damaged), NotSupported (newer version),
/// ResourceExhausted (memory).
Result<std::string> ReadSkipIndex(SkipIndexSource* source, std::span<const Column> columns);

/// Reads the whole index. Errors: those of the source, ResourceExhausted (memory).
Result<std::string> ReadWholeSkipIndex(SkipIndexSource* source);

/// Facts about the columns, from the header; reads and checks nothing else. Errors: as
/// ReadSkipIndex.
Result<std::vector<GranuleColumnInfo>> ReadSkipIndexColumns(SkipIndexSource* source);

}  // namespace blocksieve
