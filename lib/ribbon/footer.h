#pragma once

#include <string>

#include "blocksieve/filter_block.h"
#include "blocksieve/status.h"
#include "lib/base/coding.h"
#include "lib/ribbon/layout.h"

// The layout parameters of a ribbon in the footer of its block:
//
//   columns (5 bits), flags: wide segments (0x20), several chunks (0x40), 48 unused bytes before
//       the first segment (0x80)
//   octets * 2 (varint), plus 1 if there are open chunks; an octet is 8 slots
//   chunks (varint), if there are several, else the seed of the one (1)
//   narrow segments (varint), if there are wide ones

namespace blocksieve::internal {

inline constexpr uint32_t kRibbonLeadBytes = 48;

RibbonShape ShapeOf(const FilterInfo& info) noexcept;
void SetShape(const RibbonShape& shape, FilterInfo* info) noexcept;

void AppendRibbonFields(const FilterInfo& info, std::string* footer);
uint64_t RibbonFieldBytes(const FilterInfo& info) noexcept;

/// Reads the fields and checks them against `info->payload_bytes`. Errors: Corruption.
Status ReadRibbonFields(Decoder* fields, FilterInfo* info);

}  // namespace blocksieve::internal
