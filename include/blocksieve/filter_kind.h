#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace blocksieve {

/// The kinds of filter that a filter block can hold. The values are part of the byte format.
enum class FilterKind : uint8_t {
  kClassicBloom = 1,   ///< k bits anywhere (classic_bloom.h); can be added to and united.
  kBlockedBloom = 2,   ///< k bits in one cache line: the fastest to build and to probe.
  kRibbon = 3,         ///< A chunk-seeded ribbon: the smallest.
  kCountingBloom = 4,  ///< Counters in place of bits (counting_bloom.h): keys can be removed.
};

/// "classic", "bloom" (blocked Bloom), "ribbon" or "counting"; "unknown" for any other value.
std::string_view FilterKindName(FilterKind kind) noexcept;

/// The inverse of FilterKindName; nothing for any other text.
std::optional<FilterKind> ParseFilterKind(std::string_view name) noexcept;

/// The kinds that sizing.h knows layouts of, in the order of their values. Throws std::bad_alloc.
std::vector<FilterKind> SizedFilterKinds();

/// The kinds that FilterBuilder builds, in the order of their values. Throws std::bad_alloc.
std::vector<FilterKind> BuildableFilterKinds();

}  // namespace blocksieve
