#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "blocksieve/filter.h"

namespace blocksieve::internal {

/// Answers "no" to everything, for the filter of no keys.
extern const ProbeOps kNothingMatches;
/// Answers "may match" to everything, for unreadable blocks.
extern const ProbeOps kEverythingMatches;

}  // namespace blocksieve::internal
