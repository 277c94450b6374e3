#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/kernels.h"
#include "lib/block/footer.h"
#include "lib/block/probe_ops.h"
#include "lib/hash/hash_list.h"

// A family of key filters is a struct of static functions in a folder of its own, listed in
// lib/filter/families.h. No other code knows a family.

namespace blocksieve::internal {

/// What building a filter takes, as far as it is known before, and what it has built.
struct PointPlan {
  uint64_t points_bytes = 0;   ///< Size, with padding; expected until Build.
  uint64_t excess_bytes = 0;   ///< Maximum by which the real size exceeds it.
  uint32_t padding_bytes = 0;  ///< At the front, so that a reader's lines are aligned.
  uint64_t capacity = 0;       ///< Bytes that Build writes to, with padding.
  uint64_t working_bytes = 0;  ///< Memory besides the hashes and those bytes.
  bool copies_hashes = false;  ///< Whether Build copies hashes that must be kept.
  FieldBytes fields;           ///< Expected until Build.
  FieldBytes short_fields;     ///< The same.
};

/// Functions of the same names in blocksieve/sizing.h have the comments. Except for Build and those
/// that return a text or a Result, they neither throw nor allocate.
template <class Family>
concept FilterFamily = requires(const Layout& layout, uint64_t number, HashList* hashes,
                                uint8_t* out, Kernel kernel, const Footer& footer,
                                PointFilter* filter, PointPlan* plan,
                                FilterDescription* description) {
  { Family::kKind } -> std::convertible_to<FilterKind>;
  { Family::kName } -> std::convertible_to<std::string_view>;
  { Family::ChooseLayout(0.5) } -> std::same_as<Result<Layout>>;
  { Family::LayoutForBitsPerKey(0.5) } -> std::same_as<Result<Layout>>;
  { Family::PayloadBytes(layout, number) }
  noexcept->std::same_as<uint64_t>;
  { Family::MaxKeys(layout, number) }
  noexcept->std::same_as<uint64_t>;
  { Family::LayoutText(layout) } -> std::same_as<std::string>;
  // REQUIRES: number > 0 keys
  { Family::Plan(layout, number) }
  noexcept->std::same_as<PointPlan>;
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
