#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "blocksieve/granule_set.h"
#include "blocksieve/predicate.h"
#include "blocksieve/scan.h"
#include "blocksieve/skip_index.h"
#include "lib/predicate/node.h"
#include "lib/skip/column_index.h"

namespace blocksieve::internal {

/// A predicate with the indexes of one file.
///
/// As in ClickHouse, each part of a predicate has the set of granules in which it can be true and
/// the set in which it can be false. NOT swaps the sets; AND intersects the first and unites the
/// second. "Unknown" needs no set, because nothing turns it into true. Only the set that the
/// enclosing part needs is computed.
class GranulePruner {
 public:
  /// Refers to the predicate and to the indexes, which must outlive it. REQUIRES: an index, or
  /// null, for each of the predicate's columns
  GranulePruner(const Predicate& predicate, ColumnIndexes indexes);

  /// For CanPrune and Explain only, which need no index but its IndexParts; 0 without an index.
  GranulePruner(const Predicate& predicate, std::vector<uint8_t> parts);

  /// For MayMatch only.
  explicit GranulePruner(const Predicate& predicate);

  /// Whether the predicate can prune granules with these indexes. If not, all are candidates and no
  /// index is probed.
  bool CanPrune() const { return CanPrune(root_, true); }

  /// The granules that may match. Does not probe indexes for comparisons that cannot prune, nor for
  /// operands of an OR with such an operand. Adds to `*explanations`, by column, unless it is null.
  /// Unless null, `*selected` gets how many granules may match each comparison of Explain alone:
  /// all comparisons are then probed, each once and for all granules. REQUIRES: the indexes have
  /// `num_granules` granules
  GranuleSet Candidates(size_t num_granules, std::vector<ColumnExplanation>* explanations = nullptr,
                        std::vector<uint64_t>* selected = nullptr) const;

  /// Whether a granule of a file may match; nullopt: the predicate cannot prune with its indexes.
  /// As SkipIndex::Candidates, but most files are decided by their digests, and memory of earlier
  /// calls is used again. REQUIRES: a digest for each of the predicate's columns
  std::optional<bool> MayMatch(std::span<const ColumnDigest> digests, PruneColumns by,
                               size_t num_granules);

  /// Prefetches what MayMatch reads first of a file that is asked soon.
  void Prefetch(std::span<const ColumnDigest> digests) const noexcept;

  /// One entry per comparison, in the order of the text, without counts. Probes no index.
  std::vector<ComparisonExplanation> Explain() const;

  /// The number of each comparison's column among the predicate's; npos for TRUE and FALSE.
  std::vector<size_t> ColumnsOfComparisons() const;

  static constexpr size_t npos = static_cast<size_t>(-1);

 private:
  /// A leaf, of which granules are wanted in which it can be true, or false.
  struct Comparison {
    const PredicateNode* leaf;
    bool wants_true;
    bool is_used;
  };

  // For granules in which `node` can be true (`wants_true`) or false.
  bool CanPrune(const PredicateNode& node, bool wants_true) const;
  void Prune(const PredicateNode& node, bool wants_true, GranuleSet* candidates,
             std::vector<ColumnExplanation>* explanations,
             std::vector<uint64_t>* selected) const;  // REQUIRES: CanPrune or `selected`
  void PruneByLeaf(const PredicateNode& leaf, bool wants_true, GranuleSet* candidates,
                   std::vector<ColumnExplanation>* explanations) const;  // REQUIRES: CanPrune
  /// Adds what rows that match must have in columns.
  void CollectDemands(const PredicateNode& node, bool wants_true);
  void Collect(const PredicateNode& node, bool wants_true, bool is_used,
               std::vector<Comparison>* comparisons) const;
  std::vector<Comparison> Comparisons() const;

  size_t FindColumn(const PredicateNode& leaf) const;

  const PredicateNode& root_;
  const std::vector<Column>& columns_;
  ColumnIndexes indexes_;            // in the order of columns_
  std::vector<uint8_t> parts_;       // the same
  std::vector<DigestStep> demands_;  // of MayMatch, as the following
  GranuleSet all_ = GranuleSet::None(0);
  GranuleSet candidates_ = GranuleSet::None(0);
};

}  // namespace blocksieve::internal
