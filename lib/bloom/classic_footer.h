#pragma once

#include <string>

#include "blocksieve/bloom_layout.h"
#include "blocksieve/filter_block.h"
#include "blocksieve/status.h"
#include "lib/base/coding.h"

// The layout parameters of a classic or counting filter in the footer of its block:
//
//   hashes (1), bits per counter (1, counting filters only), cells (varint), design keys (varint)

namespace blocksieve::internal {

inline bool HasClassicFields(FilterKind kind) noexcept {
  return kind == FilterKind::kClassicBloom || kind == FilterKind::kCountingBloom;
}

BloomLayout BloomLayoutOf(const FilterInfo& info) noexcept;

void AppendClassicFields(const FilterInfo& info, std::string* footer);
uint64_t ClassicFieldBytes(const FilterInfo& info) noexcept;

/// Reads the fields and checks them against `info->payload_bytes`. Errors: Corruption.
Status ReadClassicFields(Decoder* fields, FilterInfo* info);

}  // namespace blocksieve::internal
