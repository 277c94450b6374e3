#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "blocksieve/column.h"
#include "lib/granule/granule_index.h"
#include "lib/skip/skip_index_source.h"

namespace blocksieve {

/// Reads a skip index that is not in memory. Engines implement it over their storage.
class SkipIndexSource {
 public:
  virtual ~SkipIndexSource() = default;

  /// Bytes of the whole index.
  virtual uint64_t num_bytes() const = 0;

  /// Fills `to` with the bytes from `offset` on, which are within num_bytes(). Any error will do.
  virtual Status Read(uint64_t offset, std::span<uint8_t> to) = 0;
};

/// Reads the part with the granules and those of the `columns` (by their definitions) that the
/// index has, as a predicate asks few columns; nothing of the others. What it returns is an index
/// by itself, one that lacks the other columns: SkipIndex::Open checks and opens it.
///
/// Errors: those of the source; Corruption and NotSupported, if the header is damaged or of a newer
/// version; ResourceExhausted (memory).
Result<std::string> ReadSkipIndex(SkipIndexSource* source, std::span<const Column> columns);

/// The same with all columns, as they are stored.
Result<std::string> ReadWholeSkipIndex(SkipIndexSource* source);

/// What the header says of the columns; no more is read, nor checked. Errors: as above.
Result<std::vector<GranuleColumnInfo>> ReadSkipIndexColumns(SkipIndexSource* source);

}  // namespace blocksieve
