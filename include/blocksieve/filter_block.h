#pragma once

#include "blocksieve/bytes.h"
#include "blocksieve/filter_info.h"
#include "blocksieve/status.h"

/// \file
/// The byte format of a finished filter: payload, footer, five zero bytes. lib/FORMAT.md is the
/// normative description.

namespace blocksieve {

/// Reads and checks the footer in constant time, without looking at the payload.
/// Errors: Corruption (too short, foreign, damaged), NotSupported (a newer version or kind).
Result<FilterInfo> DescribeFilterBlock(ByteView block);

/// Checks the payload against its checksum, in time linear in its size. Errors as above.
Status VerifyFilterBlock(ByteView block);

/// The false-positive rate that the model predicts for a filter of this layout and number of keys.
double PredictedFpr(const FilterInfo& info) noexcept;

}  // namespace blocksieve
