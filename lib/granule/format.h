#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "lib/granule/granule_index.h"
#include "lib/granule/sizing.h"

// The header of a skip index, which says what its parts are and how long:
//   header | granules' part | part of column 0 | part of column 1 | ...
// lib/FORMAT.md is the normative description.

namespace blocksieve::internal {

/// The version of an index whose filters are all bit slices, and that of others.
inline constexpr uint8_t kGranuleIndexVersion = 1;
inline constexpr uint8_t kGranuleIndexVersionOfPostings = 2;

/// The length of a part, and its checksum.
struct PartHeader {
  uint64_t num_bytes = 0;
  uint32_t checksum = 0;
};

/// Of the column's facts, the header has all but probe_bytes and what the classes tell.
struct ColumnHeader : GranuleColumnInfo {
  std::vector<SizeClass> classes;  // 1 .. kMaxSizeClasses if filters are present
  uint32_t checksum = 0;           // of marks, filters and bounds, in this order the column's part

  uint64_t num_bytes() const noexcept { return mark_bytes + filter_bytes + bounds_bytes; }
};

struct GranuleIndexHeader {
  uint64_t num_granules = 0;
  uint64_t num_rows = 0;
  PartHeader granules;
  std::vector<ColumnHeader> columns;
};

std::string EncodeGranuleIndexHeader(const GranuleIndexHeader& header);

/// So many bytes tell how long a header is.
inline constexpr size_t kGranuleIndexStartBytes = 9;

/// The length of the header that begins with `start`, which may be any bytes.
/// REQUIRES: start.size() >= kGranuleIndexStartBytes
uint64_t GranuleIndexHeaderBytes(ByteView start) noexcept;

/// Reads the header of an index of `index_bytes`, of which `start` has the header at least. Checks
/// it and the lengths of the parts, but not their contents. `*num_bytes` becomes the length of the
/// header. Errors: Corruption, NotSupported.
Result<GranuleIndexHeader> DecodeGranuleIndexHeader(ByteView start, uint64_t index_bytes,
                                                    size_t* num_bytes);

/// The same with the whole index in memory.
inline Result<GranuleIndexHeader> DecodeGranuleIndexHeader(ByteView index, size_t* num_bytes) {
  return DecodeGranuleIndexHeader(index, index.size(), num_bytes);
}

/// Corruption, "skip index: ...".
Status DamagedIndex(std::string_view what);

}  // namespace blocksieve::internal
