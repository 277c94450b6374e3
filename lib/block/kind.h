#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/kernels.h"
#include "lib/block/footer.h"
#include "lib/hash/hash_list.h"

// What implements a kind of key filter is a struct of static functions in a folder of its own,
// listed in lib/filter/kinds.h. No other code knows a kind.

namespace blocksieve::internal {

/// Functions of the same names in blocksieve/sizing.h have the comments. Except for Build and
/// LayoutText, they neither throw nor allocate, but for tables that a first call makes.
template <class Kind>
concept BuiltKind = requires(const Layout& layout, uint64_t number, HashList* hashes, uint8_t* out,
                             Kernel kernel, const Footer& footer, PointFilter* filter,
                             BlockPlan* plan, FilterDescription* description) {
  { Kind::kKind } -> std::convertible_to<FilterKind>;
  { Kind::kName } -> std::convertible_to<std::string_view>;
  // Of a layout of which a filter can be built; bits from MinBitsPerKey().
  { Kind::kMaxProbes } -> std::convertible_to<uint32_t>;
  { Kind::kMaxBitsPerKey } -> std::convertible_to<double>;
  // REQUIRES: a target FPR in its range
  { Kind::ChooseLayout(0.5) } -> std::same_as<Layout>;
  // REQUIRES: at least MinBitsPerKey(), those of the first layout
  { Kind::LayoutForBitsPerKey(0.5) } -> std::same_as<Layout>;
  { Kind::MinBitsPerKey() } -> std::same_as<double>;
  { Kind::PayloadBytes(layout, number) }
  noexcept->std::same_as<uint64_t>;
  { Kind::LayoutText(layout) } -> std::same_as<std::string>;
  // REQUIRES: number > 0 keys
  { Kind::Plan(layout, number) }
  noexcept->std::same_as<BlockPlan>;
  // Writes the filter of all hashes to `out`, zeroed bytes as many as planned, and completes the
  // plan. Consumes the hashes unless they must be kept. Returns why the filter is much worse than
  // its layout; empty: it is not. Throws std::bad_alloc.
  { Kind::Build(hashes, true, layout, out, plan) } -> std::same_as<std::string>;
  // Checks points and fields of the footer, and opens them.
  { Kind::Open(footer, kernel, filter) }
  noexcept->std::same_as<Problem>;
  // Sets the number of keys and the FPR. REQUIRES: Open accepts the footer
  { Kind::Describe(footer, description) }
  noexcept;
};

}  // namespace blocksieve::internal
