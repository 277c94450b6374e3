#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/skip_index.h"
#include "blocksieve/status.h"

// The header of a skip index, with the kinds and lengths of its parts:
//   header | granules | column 0 | column 1 | ...
// lib/FORMAT.md is the normative specification.

namespace blocksieve::internal {

inline constexpr uint8_t kSkipIndexVersion = 1;

/// A column's header. IndexColumnInfo::is_grouped and probe_bytes are not stored.
struct ColumnHeader : IndexColumnInfo {
  uint32_t checksum = 0;  // of the column's part: marks, filters and bounds

  uint64_t num_bytes() const noexcept { return mark_bytes + filter_bytes + bounds_bytes; }
};

struct SkipIndexHeader {
  bool has_keys = true;  // false: the carrier of the index has the keys of the granules
  uint64_t num_granules = 0;
  uint64_t num_rows = 0;
  uint64_t granules_bytes = 0;  // length of the granules' part
  uint32_t granules_checksum = 0;
  std::vector<ColumnHeader> columns;
};

std::string EncodeSkipIndexHeader(const SkipIndexHeader& header);

/// Bytes at the start of a header that contain its length.
inline constexpr size_t kSkipIndexStartBytes = 9;

/// The length of the header that begins with `start`, unchecked. REQUIRES: start.size() >=
/// kSkipIndexStartBytes
uint64_t SkipIndexHeaderBytes(ByteView start) noexcept;

/// Decodes the header of an index of `index_bytes`; `start` must contain it. Checks it and the
/// lengths of the parts, but not their contents. Sets `*num_bytes` to the length of the header.
/// Errors: Corruption, NotSupported.
Result<SkipIndexHeader> DecodeSkipIndexHeader(ByteView start, uint64_t index_bytes,
                                              size_t* num_bytes);

/// Corruption, "skip index: ...".
Status DamagedIndex(std::string_view what);

}  // namespace blocksieve::internal
