#pragma once

#include <cstdint>

#include "blocksieve/sizing.h"
#include "blocksieve/status.h"
#include "lib/ribbon/builder.h"

// Sizing of the ribbon needs no table: r columns give an FPR of 2^-r, and if a share of the keys
// has one more column, it is the mean of the two. Rows are a sixteenth of a column apart, as those
// of the tables are a sixteenth of a bit.

namespace blocksieve::internal {

Result<Layout> ChooseRibbonLayout(double target_fpr);
Result<Layout> RibbonLayoutForBitsPerKey(double bits_per_key);

/// What a layout means to the builder. Layouts beyond the rows count as the nearest one.
RibbonTarget RibbonTargetOf(const Layout& layout) noexcept;

/// FPR of `columns` columns, of which a share of the keys has one more.
double RibbonFpr(uint32_t columns, double wide_share) noexcept;

uint64_t RibbonPayloadBytes(const Layout& layout, uint64_t num_keys) noexcept;
uint64_t MaxRibbonKeys(const Layout& layout, uint64_t payload_bytes) noexcept;

}  // namespace blocksieve::internal
