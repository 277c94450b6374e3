#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/column/json_members.h"
#include "lib/predicate/node.h"

namespace blocksieve::internal {

/// The comparisons of a predicate with JSON members: a row is parsed once for all of them. Refers
/// to the predicate's nodes. Immutable, thread-safe.
class JsonComparisons {
 public:
  /// Null for fewer than two, which gain nothing.
  static std::shared_ptr<const JsonComparisons> Find(const PredicateNode& root);

  /// By number, whether some value of a row satisfies the comparison; nullopt: the row has no
  /// value. Parsing stops when it is decided whether the predicate is true; results that matter no
  /// more are then unspecified.
  std::vector<std::optional<bool>> Compare(std::string_view row) const;

  /// The number of a comparison with a JSON member.
  size_t NumberOf(const PredicateNode& leaf) const;

 private:
  void Collect(const PredicateNode& node);

  const PredicateNode* root_ = nullptr;
  std::vector<const PredicateNode*> leaves_;  // in the order of addresses
  JsonMembers members_;                       // one column per leaf
};

/// Whether the predicate is true for a row, by three-valued logic. `json` is Find(root).
bool IsTrue(const PredicateNode& root, const JsonComparisons* json, const Row& row);

}  // namespace blocksieve::internal
