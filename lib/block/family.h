#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/kernels.h"
#include "lib/block/footer.h"
#include "lib/hash/hash_list.h"

// A family of key filters is a struct of static functions in a folder of its own, listed in
// lib/filter/families.h. No other code knows a family.

namespace blocksieve::internal {

/// Functions of the same names in blocksieve/sizing.h have the comments. Except for Build and
/// LayoutText, they neither throw nor allocate, but for tables that a first call makes.
template <class Family>
concept FilterFamily = requires(const Layout& layout, uint64_t number, HashList* hashes,
                                uint8_t* out, Kernel kernel, const Footer& footer,
                                PointFilter* filter, BlockPlan* plan,
                                FilterDescription* description) {
  { Family::kKind } -> std::convertible_to<FilterKind>;
  { Family::kName } -> std::convertible_to<std::string_view>;
  // Of a layout of which a filter can be built; bits from MinBitsPerKey().
  { Family::kMaxProbes } -> std::convertible_to<uint32_t>;
  { Family::kMaxBitsPerKey } -> std::convertible_to<double>;
  // REQUIRES: a target FPR in its range
  { Family::ChooseLayout(0.5) } -> std::same_as<Layout>;
  // REQUIRES: at least MinBitsPerKey(), those of the first layout
  { Family::LayoutForBitsPerKey(0.5) } -> std::same_as<Layout>;
  { Family::MinBitsPerKey() } -> std::same_as<double>;
  { Family::PayloadBytes(layout, number) }
  noexcept->std::same_as<uint64_t>;
  { Family::LayoutText(layout) } -> std::same_as<std::string>;
  // REQUIRES: number > 0 keys
  { Family::Plan(layout, number) }
  noexcept->std::same_as<BlockPlan>;
  // Writes the filter of all hashes to `out`, zeroed bytes as many as planned, and completes the
  // plan. Consumes the hashes unless they must be kept. Returns why the filter is much worse than
  // its layout; empty: it is not. Throws std::bad_alloc.
  { Family::Build(hashes, true, layout, out, plan) } -> std::same_as<std::string>;
  // Checks points and fields of the footer, and opens them.
  { Family::Open(footer, kernel, filter) }
  noexcept->std::same_as<Problem>;
  // Sets the number of keys and the FPR. REQUIRES: Open accepts the footer
  { Family::Describe(footer, description) }
  noexcept;
};

}  // namespace blocksieve::internal
