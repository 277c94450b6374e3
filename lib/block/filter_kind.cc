#include "blocksieve/filter_kind.h"

#include <array>
#include <utility>

namespace blocksieve {
namespace {

constexpr std::array<std::pair<FilterKind, std::string_view>, 4> kKindNames{{
    {FilterKind::kClassicBloom, "classic"},
    {FilterKind::kBlockedBloom, "bloom"},
    {FilterKind::kRibbon, "ribbon"},
    {FilterKind::kCountingBloom, "counting"},
}};

}  // namespace

std::string_view FilterKindName(FilterKind kind) noexcept {
  for (const auto& [known, name] : kKindNames) {
    if (known == kind) return name;
  }
  return "unknown";
}

std::optional<FilterKind> ParseFilterKind(std::string_view text) noexcept {
  for (const auto& [kind, name] : kKindNames) {
    if (name == text) return kind;
  }
  return std::nullopt;
}

}  // namespace blocksieve
