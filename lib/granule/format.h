#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "lib/granule/granule_index.h"
#include "lib/granule/sizing.h"

// The header of a skip index, with the kinds and lengths of its parts:
//   header | granules | column 0 | column 1 | ...
// lib/FORMAT.md is the normative specification.

namespace blocksieve::internal {

/// Versions of an index with bit slices only, and with postings.
inline constexpr uint8_t kGranuleIndexVersion = 1;
inline constexpr uint8_t kGranuleIndexVersionOfPostings = 2;

/// The length of a part, and its checksum.
struct PartHeader {
  uint64_t num_bytes = 0;
  uint32_t checksum = 0;
};

/// A column's header. probe_bytes, max_distinct and num_size_classes are not stored.
struct ColumnHeader : GranuleColumnInfo {
  std::vector<SizeClass> classes;  // 1 .. kMaxSizeClasses if filters are present
  uint32_t checksum = 0;           // of the column: marks, filters and bounds

  uint64_t num_bytes() const noexcept { return mark_bytes + filter_bytes + bounds_bytes; }
};

struct GranuleIndexHeader {
  uint64_t num_granules = 0;
  uint64_t num_rows = 0;
  PartHeader granules;
  std::vector<ColumnHeader> columns;
};

std::string EncodeGranuleIndexHeader(const GranuleIndexHeader& header);

/// Bytes at the start of a header that contain its length.
inline constexpr size_t kGranuleIndexStartBytes = 9;

/// The length of the header that begins with `start`, unchecked. REQUIRES: start.size() >=
/// kGranuleIndexStartBytes
uint64_t GranuleIndexHeaderBytes(ByteView start) noexcept;

/// Decodes the header of an index of `index_bytes`; `start` must contain it. Checks it and the
/// lengths of the parts, but not their contents. Sets `*num_bytes` to the length of the header.
/// Errors: Corruption, NotSupported.
Result<GranuleIndexHeader> DecodeGranuleIndexHeader(ByteView start, uint64_t index_bytes,
                                                    size_t* num_bytes);

/// The same with the whole index in memory.
inline Result<GranuleIndexHeader> DecodeGranuleIndexHeader(ByteView index, size_t* num_bytes) {
  return DecodeGranuleIndexHeader(index, index.size(), num_bytes);
}

/// Corruption, "skip index: ...".
Status DamagedIndex(std::string_view what);

}  // namespace blocksieve::internal
