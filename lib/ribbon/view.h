#pragma once

#include "blocksieve/internal/filter_view.h"
#include "blocksieve/status.h"
#include "lib/ribbon/layout.h"

namespace blocksieve::internal {

/// Errors: Corruption, if there is no payload of this shape and size.
Status CheckRibbonShape(const RibbonShape& shape, uint64_t payload_bytes);

/// Bytes behind the payload that a probe may read, whatever they are: the footer has them.
inline constexpr uint64_t kRibbonReadableTail = 16;

/// REQUIRES: CheckRibbonShape accepts. What the directory says is not trusted, and needs not be.
RibbonView MakeRibbonView(const RibbonShape& shape, const uint8_t* payload) noexcept;

}  // namespace blocksieve::internal
