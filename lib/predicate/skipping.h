#pragma once

#include <vector>

#include "blocksieve/predicate.h"
#include "lib/predicate/node.h"

namespace blocksieve::internal {

/// A predicate together with the indexes of one file, found once.
///
/// As in ClickHouse every part of a predicate is asked in which granules it can be true and in
/// which it can be false; NOT swaps the two, AND intersects the one and unites the other. "Unknown"
/// needs no set of its own: nothing turns it into true. The sets are never both computed: only the
/// one that the parts around ask for.
class Skipping {
 public:
  Skipping(const PredicateNode& root, const std::vector<Column>& columns,
           const ColumnIndexLookup& lookup);

  bool CanSkip() const { return CanSkip(root_, true); }

  /// Removes granules in which no row can match.
  void Keep(GranuleSet* candidates) const {
    if (CanSkip()) Keep(root_, true, candidates);
  }

  std::vector<SkipExplanation> Explain() const {
    std::vector<SkipExplanation> explanations;
    Explain(root_, true, true, &explanations);
    return explanations;
  }

 private:
  // All for granules in which `node` can be true, or, not `asks_true`, false.
  bool CanSkip(const PredicateNode& node, bool asks_true) const;
  void Keep(const PredicateNode& node, bool asks_true, GranuleSet* candidates) const;  // REQUIRES ^
  void Explain(const PredicateNode& node, bool asks_true, bool is_used,
               std::vector<SkipExplanation>* explanations) const;

  const ColumnIndex* IndexOf(const PredicateNode& leaf) const;

  const PredicateNode& root_;
  const std::vector<Column>& columns_;
  std::vector<const ColumnIndex*> indexes_;  // of the columns, in their order
};

}  // namespace blocksieve::internal
