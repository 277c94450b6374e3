#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/block/filter_info.h"
#include "lib/block/seal.h"
#include "lib/hash/hash_list.h"

// All that the library knows about a kind of filter. The room of the kind fills in one KindEntry;
// lib/filter/kinds.cc has the table of them. Nothing else asks which kind a filter is.

namespace blocksieve::internal {

/// How a kind is sized. What blocksieve/sizing.h says about a function of that name holds.
struct KindSizing {
  Result<Layout> (*choose_layout)(double target_fpr);
  Result<Layout> (*layout_for_bits_per_key)(double bits_per_key);
  uint64_t (*payload_bytes)(const Layout& layout, uint64_t num_keys) noexcept;
  uint64_t (*max_keys)(const Layout& layout, uint64_t payload_bytes) noexcept;
  std::string (*layout_text)(const Layout& layout);
};

/// How FilterBuilder makes a block of a kind.
struct KindBuilding {
  /// The block that `num_keys` keys are expected to take, all but its checksum.
  FilterInfo (*plan)(const Layout& layout, uint64_t num_keys, uint64_t hash_seed) noexcept;

  /// Bytes by which a finished block may exceed its plan. Null: none.
  uint64_t (*excess_bytes)(const Layout& layout, uint64_t num_keys) noexcept = nullptr;

  /// Memory that `build` takes beside the hashes and the block; more hashes if it keeps them. Null:
  /// none.
  uint64_t (*working_bytes)(const Layout& layout, uint64_t num_keys) noexcept = nullptr;

  /// Makes a filter block of `hashes`. Leaves them as they are if `keep` is set. Otherwise it may
  /// free them on the way; if it fails they are still there, unless memory ran out half-way.
  /// Errors: ResourceExhausted if the memory in use would exceed `max_build_bytes` (0: no limit),
  /// if there is none left, if the block would reach 4 GiB, or if there is no such filter.
  /// Throws std::bad_alloc. REQUIRES: hashes->size() > 0.
  Result<OwnedBytes> (*build)(HashList* hashes, bool keep, const Layout& layout, uint64_t hash_seed,
                              uint64_t max_build_bytes);
};

struct KindEntry {
  FilterKind kind;
  std::string_view name;
  FilterFormat format;
  std::optional<KindSizing> sizing = std::nullopt;      ///< None: it has no target FPR.
  std::optional<KindBuilding> building = std::nullopt;  ///< None: it has a builder of its own.
};

/// The table, in the order of the kinds' numbers, which begin with 1.
std::span<const KindEntry* const> AllKinds() noexcept;

/// Null: the number is that of no kind.
const KindEntry* FindKind(FilterKind kind) noexcept;

}  // namespace blocksieve::internal
