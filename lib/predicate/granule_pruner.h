#pragma once

#include <functional>
#include <string>
#include <vector>

#include "blocksieve/predicate.h"
#include "lib/predicate/column_index.h"
#include "lib/predicate/node.h"

namespace blocksieve::internal {

/// Returns the index of a column in one file, or null. The index must have been built with an equal
/// Column, not merely one of the same name.
using ColumnIndexLookup = std::function<const ColumnIndex*(const Column& column)>;

/// What one comparison of a predicate contributes to pruning.
struct PruningExplanation {
  std::string comparison;  ///< text form, with the NOT that applies to it
  std::string column;      ///< name; empty for TRUE and FALSE
  bool can_prune = false;  ///< whether it can prune granules alone
  bool is_used = false;    ///< whether it can prune granules within the predicate
  std::string reason;      ///< how it prunes, or why not
};

struct PredicateAccess {
  static const PredicateNode& Root(const Predicate& predicate) noexcept { return *predicate.node_; }
};

/// A predicate with the indexes of one file, each looked up once.
///
/// As in ClickHouse, each part of a predicate has the set of granules in which it can be true and
/// the set in which it can be false. NOT swaps the sets; AND intersects the first and unites the
/// second. "Unknown" needs no set, because nothing turns it into true. Only the set that the
/// enclosing part needs is computed.
class GranulePruner {
 public:
  /// Refers to the predicate, which must outlive it, and to the indexes that `lookup` returns.
  GranulePruner(const Predicate& predicate, const ColumnIndexLookup& lookup);

  /// Whether the predicate can prune granules with these indexes. If not, all are candidates and no
  /// index is probed.
  bool CanPrune() const { return CanPrune(root_, true); }

  /// Removes granules in which no row can match.
  void Prune(GranuleSet* candidates) const {
    if (CanPrune()) Prune(root_, true, candidates);
  }

  /// The granules that may match. Does not probe indexes for comparisons that cannot prune, nor for
  /// operands of an OR with such an operand. REQUIRES: the indexes have `num_granules` granules
  GranuleSet Candidates(size_t num_granules) const {
    GranuleSet candidates = GranuleSet::All(num_granules);
    Prune(&candidates);
    return candidates;
  }

  /// One entry per comparison, in the order of the text. Probes no index.
  std::vector<PruningExplanation> Explain() const {
    std::vector<PruningExplanation> explanations;
    Explain(root_, true, true, &explanations);
    return explanations;
  }

 private:
  // For granules in which `node` can be true (`wants_true`) or false.
  bool CanPrune(const PredicateNode& node, bool wants_true) const;
  void Prune(const PredicateNode& node, bool wants_true,
             GranuleSet* candidates) const;  // REQUIRES: CanPrune
  void Explain(const PredicateNode& node, bool wants_true, bool is_used,
               std::vector<PruningExplanation>* explanations) const;

  const ColumnIndex* IndexOf(const PredicateNode& leaf) const;

  const PredicateNode& root_;
  const std::vector<Column>& columns_;
  std::vector<const ColumnIndex*> indexes_;  // in the order of columns_
};

}  // namespace blocksieve::internal
