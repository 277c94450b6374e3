#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/filter.h"
#include "lib/base/kernels.h"
#include "lib/block/filter_view.h"
#include "lib/prefix/prefix_builder.h"
#include "lib/range/range_filter.h"

namespace blocksieve {

/// The sections of a filter block that answer range queries.
struct FilterParts {
  std::optional<RangePartOptions> ranges;
  std::optional<PrefixPartOptions> prefixes;
};

}  // namespace blocksieve

namespace blocksieve::internal {

/// Access to a Filter beyond its public interface, for integrations, tests and benchmarks.
struct FilterAccess {
  /// Sets the parts that `builder` builds, in place of those in its options. Errors: those of
  /// RangeFilterBuilder::Create.
  static Status AddParts(const FilterParts& parts, FilterBuilder* builder);

  /// Adds a hash to the point filter, but no key to the parts.
  static void AddPointHash(uint64_t hash, FilterBuilder* builder) noexcept;

  /// Leaves the parts out of the next block.
  static void DropParts(FilterBuilder* builder);

  /// Why the last block has no range part; empty if it has one, or should have none.
  static const std::string& NoRangesReason(const FilterBuilder& builder) noexcept;

  /// Memory of the keys collected for the range part, in bytes. Finish needs twice that.
  static uint64_t PartsMemoryBytes(const FilterBuilder& builder) noexcept;

  /// Peak memory of Finish(layout) in bytes, including the block.
  static uint64_t BuildBytes(const FilterBuilder& builder, const Layout& layout) noexcept;

  /// Filter::Open with a kernel other than ActiveKernel(). REQUIRES: IsAvailable(kernel)
  static Filter Open(ByteView block, Kernel kernel) noexcept;

  /// Whether the filter's block has parts.
  static bool AnswersRanges(const Filter& filter) noexcept;

  /// Whether some key may be in [begin, end), according to the parts of the filter's block.
  /// kMayMatch if it has none.
  static RangeAnswer QueryRange(const Filter& filter, std::string_view begin,
                                std::string_view end) noexcept;

  /// Filter::MayContain for keys in an engine's own type. False only if no key is empty: an engine
  /// in which the empty key has a special meaning need not search for it then.
  static bool MayContain(const Filter& filter, KeyList keys, size_t num_keys,
                         bool* may_match) noexcept {
    return filter.ops_->may_match_keys(filter.view(), keys, num_keys, may_match);
  }
};

}  // namespace blocksieve::internal
