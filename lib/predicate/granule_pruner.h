#pragma once

#include <functional>
#include <string>
#include <vector>

#include "blocksieve/predicate.h"
#include "lib/predicate/column_index.h"
#include "lib/predicate/node.h"

namespace blocksieve::internal {

/// Returns the index of a column in one file, or null if there is none. The index must have been
/// built with an equal Column, not merely one of the same name.
using ColumnIndexLookup = std::function<const ColumnIndex*(const Column& column)>;

/// What one comparison of a predicate contributes to skipping granules.
struct PruningExplanation {
  std::string comparison;  ///< as ToText prints it, with the NOT that applies to it
  std::string column;      ///< its name; empty for TRUE and FALSE
  bool can_prune = false;  ///< whether it could rule out granules if it stood alone
  bool is_used = false;    ///< whether it can within the predicate
  std::string reason;      ///< how it skips, or why not
};

struct PredicateAccess {
  static const PredicateNode& Root(const Predicate& predicate) noexcept { return *predicate.node_; }
};

/// A predicate together with the indexes of one file, each looked up once.
///
/// As in ClickHouse, each part of a predicate says in which granules it can be true and in which it
/// can be false. NOT swaps the two sets; AND intersects the first and unites the second. "Unknown"
/// needs no set, because nothing turns it into true. Only the set that the enclosing part needs is
/// computed.
class GranulePruner {
 public:
  /// Refers to the predicate, which must outlive it, and to the indexes that `lookup` returns.
  GranulePruner(const Predicate& predicate, const ColumnIndexLookup& lookup);

  /// Whether the predicate can rule out granules with these indexes. If not, all are candidates and
  /// no index is asked.
  bool CanPrune() const { return CanPrune(root_, true); }

  /// Removes granules in which no row can match.
  void Keep(GranuleSet* candidates) const {
    if (CanPrune()) Keep(root_, true, candidates);
  }

  /// The granules that may hold a matching row, among them all that do. Asks no index about
  /// comparisons that cannot skip, nor about those that they make useless: the operands of an OR of
  /// which one cannot skip. REQUIRES: the indexes have `num_granules` granules
  GranuleSet Candidates(size_t num_granules) const {
    GranuleSet candidates = GranuleSet::All(num_granules);
    Keep(&candidates);
    return candidates;
  }

  /// One entry per comparison, in the order of the text. Asks no index.
  std::vector<PruningExplanation> Explain() const {
    std::vector<PruningExplanation> explanations;
    Explain(root_, true, true, &explanations);
    return explanations;
  }

 private:
  // These concern granules in which `node` can be true or, if not `asks_true`, can be false.
  bool CanPrune(const PredicateNode& node, bool asks_true) const;
  void Keep(const PredicateNode& node, bool asks_true,
            GranuleSet* candidates) const;  // REQUIRES: CanPrune
  void Explain(const PredicateNode& node, bool asks_true, bool is_used,
               std::vector<PruningExplanation>* explanations) const;

  const ColumnIndex* IndexOf(const PredicateNode& leaf) const;

  const PredicateNode& root_;
  const std::vector<Column>& columns_;
  std::vector<const ColumnIndex*> indexes_;  // of the columns, in their order
};

}  // namespace blocksieve::internal
