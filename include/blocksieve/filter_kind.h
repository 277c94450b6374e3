#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace blocksieve {

/// The kinds of filter that a filter block can hold. The values are part of the byte format.
enum class FilterKind : uint8_t {
  kClassicBloom = 1,
  kBlockedBloom = 2,
  kRibbon = 3,
  kCountingBloom = 4,
};

/// "classic", "bloom" (blocked Bloom), "ribbon" or "counting"; "unknown" for any other value.
std::string_view FilterKindName(FilterKind kind) noexcept;

/// The inverse of FilterKindName; nothing for any other text.
std::optional<FilterKind> ParseFilterKind(std::string_view name) noexcept;

}  // namespace blocksieve
