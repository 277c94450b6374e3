#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "lib/base/kernels.h"
#include "lib/hash/hash_list.h"
#include "lib/ribbon/shape.h"
#include "lib/ribbon/sizing.h"

namespace blocksieve::internal {

/// Size of the output buffer of BuildRibbon for `num_keys` keys: payload and working space.
uint64_t RibbonCapacity(const Layout& layout, uint64_t num_keys) noexcept;

/// Memory that BuildRibbon uses besides `hashes` and its output. It frees hashes as it proceeds, so
/// that the total never exceeds theirs by more than this.
uint64_t RibbonWorkingBytes(const Layout& layout, uint64_t num_keys) noexcept;

/// Writes the payload of a ribbon filter of all hashes to `out`. Consumes the hashes unless `keep`.
/// The same hashes, in any order, give the same bytes on every kernel. `layout` has the number of
/// columns, and the share of keys with one more.
/// REQUIRES: hashes->size() > 0; RibbonCapacity zero bytes at `out`. Throws std::bad_alloc.
RibbonShape BuildRibbon(HashList* hashes, bool keep, const Layout& layout, Kernel kernel,
                        uint8_t* out);

}  // namespace blocksieve::internal
