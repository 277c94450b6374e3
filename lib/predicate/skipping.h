#pragma once

#include <vector>

#include "blocksieve/predicate.h"
#include "lib/predicate/node.h"

namespace blocksieve::internal {

/// A predicate together with the indexes of one file, each looked up once.
///
/// As in ClickHouse, each part of a predicate says in which granules it can be true and in which it
/// can be false. NOT swaps the two sets; AND intersects the first and unites the second. "Unknown"
/// needs no set, because nothing turns it into true. Only the set that the enclosing part needs is
/// computed.
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
  // These concern granules in which `node` can be true or, if not `asks_true`, can be false.
  bool CanSkip(const PredicateNode& node, bool asks_true) const;
  void Keep(const PredicateNode& node, bool asks_true,
            GranuleSet* candidates) const;  // REQUIRES: CanSkip
  void Explain(const PredicateNode& node, bool asks_true, bool is_used,
               std::vector<SkipExplanation>* explanations) const;

  const ColumnIndex* IndexOf(const PredicateNode& leaf) const;

  const PredicateNode& root_;
  const std::vector<Column>& columns_;
  std::vector<const ColumnIndex*> indexes_;  // of the columns, in their order
};

}  // namespace blocksieve::internal
