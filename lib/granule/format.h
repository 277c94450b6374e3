#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/granule_index.h"
#include "blocksieve/status.h"
#include "lib/granule/sizing.h"

// The header of a granule index, which says what and how long its parts are:
//   header | granules' part | part of column 0 | part of column 1 | ...
// lib/FORMAT.md is the normative description.

namespace blocksieve::internal {

inline constexpr uint8_t kGranuleIndexVersion = 1;

/// Where a part is, and what it must hash to.
struct PartHeader {
  uint64_t num_bytes = 0;
  uint32_t checksum = 0;
};

struct ColumnHeader {
  std::string name;
  ValueType type = ValueType::kBytes;
  double target_fpr = 0;
  GranulePart filters = GranulePart::kNotWanted;
  GranulePart bounds = GranulePart::kNotWanted;
  uint64_t num_distinct = 0;
  uint32_t num_probes = 0;         // these two only if filters are present
  std::vector<SizeClass> classes;  // 1 .. kMaxSizeClasses
  uint64_t mark_bytes = 0;         // the column's part: marks, filters, bounds
  uint64_t filter_bytes = 0;
  uint64_t bounds_bytes = 0;
  uint32_t checksum = 0;  // of all three

  uint64_t num_bytes() const noexcept { return mark_bytes + filter_bytes + bounds_bytes; }
};

struct GranuleIndexHeader {
  uint64_t num_granules = 0;
  uint64_t num_rows = 0;
  PartHeader granules;
  std::vector<ColumnHeader> columns;
};

std::string EncodeGranuleIndexHeader(const GranuleIndexHeader& header);

/// Reads the header off the front of `index`, checks it and that the parts' lengths are those of
/// `index`; `*num_bytes` becomes the header's own length. Contents of parts are not looked at.
/// Errors: Corruption, NotSupported.
Result<GranuleIndexHeader> DecodeGranuleIndexHeader(ByteView index, size_t* num_bytes);

/// Corruption, "granule index: ...".
Status DamagedIndex(std::string_view what);

}  // namespace blocksieve::internal
