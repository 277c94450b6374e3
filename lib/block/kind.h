#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/block/filter_info.h"
#include "lib/block/seal.h"
#include "lib/hash/hash_list.h"

// Everything that depends on the kind of a filter. Each kind's folder defines one KindEntry, and
// lib/filter/kinds.cc lists them. No other code branches on the kind.

namespace blocksieve::internal {

/// Sizing of a kind: the functions of the same names in blocksieve/sizing.h, and for reports
/// Layout::num_probes as text: "k = 7", "6 whole columns".
struct KindSizing {
  Result<Layout> (*choose_layout)(double target_fpr);
  Result<Layout> (*layout_for_bits_per_key)(double bits_per_key);
  uint64_t (*payload_bytes)(const Layout& layout, uint64_t num_keys) noexcept;
  uint64_t (*max_keys)(const Layout& layout, uint64_t payload_bytes) noexcept;
  std::string (*layout_text)(const Layout& layout);
};

/// Building of a kind by FilterBuilder.
struct KindBuilding {
  /// The expected footer of a block of `num_keys` keys, without the checksum.
  FilterInfo (*plan)(const Layout& layout, uint64_t num_keys) noexcept;

  /// Maximum bytes by which a finished block exceeds its plan. Null: 0.
  uint64_t (*excess_bytes)(const Layout& layout, uint64_t num_keys) noexcept = nullptr;

  /// Memory that `build` uses besides the hashes, which it may copy to keep them, and the block.
  /// Null: 0.
  uint64_t (*working_bytes)(const Layout& layout, uint64_t num_keys) noexcept = nullptr;

  /// Makes a filter block of `hashes`. Does not change them with `keep`. Otherwise may free them,
  /// but not if it fails, unless memory runs out half-way. Errors: ResourceExhausted if memory
  /// would exceed `max_build_bytes` (0: no limit) or runs out, the block would reach 4 GiB, or no
  /// filter of this layout exists. Throws std::bad_alloc. REQUIRES: hashes->size() > 0.
  Result<OwnedBytes> (*build)(HashList* hashes, bool keep, const Layout& layout,
                              uint64_t max_build_bytes);
};

struct KindEntry {
  FilterKind kind;
  std::string_view name;
  FilterFormat format;
  std::optional<KindSizing> sizing = std::nullopt;      ///< Unset: the kind has no target FPR.
  std::optional<KindBuilding> building = std::nullopt;  ///< Unset: the kind has its own builder.
};

/// All kinds in the order of their numbers.
std::span<const KindEntry* const> AllKinds() noexcept;

/// The entry of a kind; null if no kind has this number.
const KindEntry* FindKind(FilterKind kind) noexcept;

}  // namespace blocksieve::internal
