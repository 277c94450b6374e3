#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "blocksieve/column.h"

namespace blocksieve {

/// The values from `low` to `high`.
struct ValueRange {
  std::optional<Value> low;   ///< nullopt: unbounded.
  std::optional<Value> high;  ///< nullopt: unbounded.
  bool includes_low = true;   ///< Whether `low`, if given, is in the range.
  bool includes_high = true;  ///< Whether `high`, if given, is in the range.
};

}  // namespace blocksieve

namespace blocksieve::internal {

/// Parts of a column's index that a comparison uses.
enum IndexPart : uint8_t { kFilterPart = 1, kBoundsPart = 2, kMarkPart = 4 };

/// What an index must rule out to prune a granule. A row of an array or tokenised column has
/// several values; "a value" means any of them.
enum class PruneBy : uint8_t {
  kHash,      ///< some row has a value whose Value::Hash() is `hash`
  kAny,       ///< some row has one of `values`
  kRange,     ///< some row has a value in `range`
  kDiffers,   ///< some row has a value that is not among `values`
  kMissing,   ///< some row lacks the column (NULL, or an array without elements)
  kPresence,  ///< some row has the column
};

/// One probe of the index of a column. Refers to values that must outlive it.
struct PruningStep {
  PruneBy by = PruneBy::kPresence;
  uint64_t hash = 0;
  std::span<const Value> values = {};  ///< ascending
  std::vector<uint64_t> hashes = {};   ///< theirs, for kAny: each file is asked
  ValueRange range = {};
};

/// How to prune granules in which a comparison cannot have one of its outcomes (true or false). A
/// granule is kept if all steps of at least one alternative keep it.
struct PruningPlan {
  bool can_prune = false;  ///< if false, there are no alternatives
  /// None: the comparison never has the outcome, so all granules are pruned without an index.
  std::vector<std::vector<PruningStep>> alternatives;
  std::string reason;  ///< how it prunes, or why not; for people

  uint8_t parts = 0;         ///< IndexParts, of which the index must have one; 0: needs no index
  bool names_parts = false;  ///< whether `reason` is appended to the names of the index's parts
};

}  // namespace blocksieve::internal
