// SPDX-License-Identifier: Apache-2.0
#include "lib/skip/granule_pruner.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "lib/base/altered_answers.h"
#include "lib/column/sort_key.h"

namespace blocksieve::internal {
namespace {

using Kind = PredicateNode::Kind;

const PruningPlan& SelectPlan(const PredicateNode& leaf, bool wants_true) noexcept {
  return wants_true ? leaf.when_true : leaf.when_false;
}

bool CanUse(uint8_t parts, const PruningPlan& plan) {
  return plan.can_prune && (plan.alternatives.empty() || (plan.parts & parts) != 0);
}

// Such as "filters and bounds, 2 values".
std::string WhyChosen(const PruningPlan& plan, uint8_t parts) {
  if (!plan.names_parts || plan.alternatives.empty()) return plan.reason;
  const unsigned asked = plan.parts & parts;
  const char* names = asked == kFilterPart                   ? "filters"
                      : asked == (kFilterPart | kBoundsPart) ? "filters and bounds"
                      : asked == kMarkPart                   ? "which granules have the column"
                                                             : "bounds";
  return names + plan.reason;
}

std::string WhyUseless(const PredicateNode& leaf, const PruningPlan& plan, uint8_t parts) {
  const char* missing = parts == 0                  ? "no index"
                        : plan.parts == kFilterPart ? "no filters"
                        : plan.parts == kBoundsPart ? "no bounds"
                                                    : "neither filters nor bounds";
  return "column '" + leaf.column->name() + "' has " + missing;
}

// Whether all children must have the outcome, or one is enough.
bool NeedsAll(const PredicateNode& node, bool wants_true) noexcept {
  return (node.kind == Kind::kAnd) == wants_true;
}

// Removes the granules that `prune(alternative, set)` removes for every alternative.
template <class Alternatives, class PruneOne>
void PruneUnlessAny(const Alternatives& alternatives, const PruneOne& prune,
                    GranuleSet* candidates) {
  if (alternatives.size() == 1) return prune(alternatives[0], candidates);
  GranuleSet kept = GranuleSet::None(candidates->num_granules());
  GranuleSet one = kept;
  for (const auto& alternative : alternatives) {
    one = *candidates;
    prune(alternative, &one);
    kept |= one;
  }
  *candidates = std::move(kept);
}

}  // namespace

GranulePruner::GranulePruner(const Predicate& predicate, ColumnIndexes indexes)
    : root_(*predicate.node_), columns_(predicate.columns()), indexes_(std::move(indexes)) {
  assert(indexes_.size() == columns_.size());
  for (const ColumnIndex* const index : indexes_) {
    parts_.push_back(index == nullptr ? uint8_t{0} : index->parts());
  }
}

GranulePruner::GranulePruner(const Predicate& predicate, std::vector<uint8_t> parts)
    : root_(*predicate.node_), columns_(predicate.columns()), parts_(std::move(parts)) {
  assert(parts_.size() == columns_.size());
}

GranulePruner::GranulePruner(const Predicate& predicate)
    : GranulePruner(predicate, ColumnIndexes(predicate.columns().size())) {
  CollectDemands(root_, true);
}

size_t GranulePruner::FindColumn(const PredicateNode& leaf) const {
  if (columns_.size() == 1) return 0;
  return static_cast<size_t>(std::find(columns_.begin(), columns_.end(), *leaf.column) -
                             columns_.begin());
}

bool GranulePruner::CanPrune(const PredicateNode& node, bool wants_true) const {
  if (node.IsLeaf()) {
    const PruningPlan& plan = SelectPlan(node, wants_true);
    return CanUse(plan.alternatives.empty() ? uint8_t{0} : parts_[FindColumn(node)], plan);
  }
  if (node.kind == Kind::kNot) return CanPrune(*node.children[0], !wants_true);
  const auto can_prune = [&](const PredicateNodePointer& child) {
    return CanPrune(*child, wants_true);
  };
  return NeedsAll(node, wants_true)
             ? std::any_of(node.children.begin(), node.children.end(), can_prune)
             : std::all_of(node.children.begin(), node.children.end(), can_prune);
}

void GranulePruner::PruneByLeaf(const PredicateNode& leaf, bool wants_true, GranuleSet* candidates,
                                std::vector<ColumnExplanation>* explanations) const {
  const auto prune_by_steps = [&](const std::vector<PruningStep>& steps, GranuleSet* set) {
    const size_t column = FindColumn(leaf);
    for (const PruningStep& step : steps) {
      if (set->IsEmpty()) return;
      indexes_[column]->Prune(step, set,
                              explanations == nullptr ? nullptr : &(*explanations)[column]);
    }
  };
  PruneUnlessAny(SelectPlan(leaf, wants_true).alternatives, prune_by_steps, candidates);
}

void GranulePruner::Prune(const PredicateNode& node, bool wants_true, GranuleSet* candidates,
                          std::vector<ColumnExplanation>* explanations,
                          std::vector<uint64_t>* selected) const {
  if (node.kind == Kind::kNot) {
    return Prune(*node.children[0], !wants_true, candidates, explanations, selected);
  }
  // Without `selected`, callers have made sure that it can.
  const bool can_prune = selected == nullptr || CanPrune(node, wants_true);
  assert(can_prune == CanPrune(node, wants_true));
  if (node.IsLeaf() && selected == nullptr) {
    return PruneByLeaf(node, wants_true, candidates, explanations);
  }
  if (node.IsLeaf()) {
    GranuleSet alone = GranuleSet::All(candidates->num_granules());
    if (can_prune) PruneByLeaf(node, wants_true, &alone, explanations);
    selected->push_back(alone.Count());
    *candidates &= alone;
    return;
  }
  if (!NeedsAll(node, wants_true)) {
    // What is probed only to be counted is no part of the explanation of columns.
    if (!can_prune) explanations = nullptr;
    const auto prune_by_child = [&](const PredicateNodePointer& child, GranuleSet* set) {
      Prune(*child, wants_true, set, explanations, selected);
    };
    return PruneUnlessAny(node.children, prune_by_child, candidates);
  }
  for (const PredicateNodePointer& child : node.children) {
    if (candidates->IsEmpty()) {
      if (selected == nullptr) return;
      explanations = nullptr;
    }
    if (selected != nullptr || CanPrune(*child, wants_true)) {
      Prune(*child, wants_true, candidates, explanations, selected);
    }
  }
}

GranuleSet GranulePruner::Candidates(size_t num_granules,
                                     std::vector<ColumnExplanation>* explanations,
                                     std::vector<uint64_t>* selected) const {
  if (explanations != nullptr) explanations->resize(columns_.size());
  GranuleSet candidates = GranuleSet::All(num_granules);
  if (selected != nullptr || CanPrune()) {
    Prune(root_, true, &candidates, explanations, selected);
  }
  if (AlteredAnswers() == Answers::kMayMatch) return GranuleSet::All(num_granules);
  if (AlteredAnswers() == Answers::kLost && num_granules != 0) candidates.Remove(num_granules - 1);
  return candidates;
}

void GranulePruner::CollectDemands(const PredicateNode& node, bool wants_true) {
  constexpr size_t kMaxHashes = 4;
  if (node.kind == Kind::kNot) return CollectDemands(*node.children[0], !wants_true);
  if (!node.IsLeaf()) {
    if (!NeedsAll(node, wants_true)) return;
    for (const PredicateNodePointer& child : node.children) CollectDemands(*child, wants_true);
    return;
  }
  const PruningPlan& plan = SelectPlan(node, wants_true);
  if (plan.alternatives.size() != 1) return;
  for (const PruningStep& step : plan.alternatives[0]) {
    DigestStep demand{.column = FindColumn(node)};
    const bool has_values = step.by == PruneBy::kAny && !step.values.empty();
    const ValueRange range =
        has_values ? ValueRange{step.values.front(), step.values.back()} : step.range;
    if (range.low) demand.low = SortHead(SortKey(*range.low));
    if (range.high) demand.high = SortHead(SortKey(*range.high));
    if (step.by == PruneBy::kHash) demand.hashes = {&step.hash, 1};
    if (step.hashes.size() <= kMaxHashes && has_values) demand.hashes = step.hashes;
    demands_.push_back(demand);
  }
}

void GranulePruner::Prefetch(std::span<const ColumnDigest> digests) const noexcept {
  for (const DigestStep& demand : demands_) digests[demand.column].Prefetch(demand);
}

std::optional<bool> GranulePruner::MayMatch(std::span<const ColumnDigest> digests, PruneColumns by,
                                            size_t num_granules) {
  const auto is_used = [&](size_t i) {
    return by == PruneColumns::kAll || columns_[i].is_of_key();
  };
  for (const DigestStep& demand : demands_) {
    if (digests[demand.column].RulesOut(demand) && is_used(demand.column)) return false;
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    indexes_[i] = is_used(i) ? digests[i].index : nullptr;
    parts_[i] = indexes_[i] == nullptr ? uint8_t{0} : indexes_[i]->parts();
  }
  if (!CanPrune()) return std::nullopt;
  if (all_.num_granules() != num_granules) all_ = GranuleSet::All(num_granules);
  candidates_ = all_;
  Prune(root_, true, &candidates_, nullptr, nullptr);
  return !candidates_.IsEmpty();
}

void GranulePruner::Collect(const PredicateNode& node, bool wants_true, bool is_used,
                            std::vector<Comparison>* comparisons) const {
  if (node.IsLeaf()) {
    comparisons->push_back({&node, wants_true, is_used});
    return;
  }
  const bool wants_child_true = wants_true != (node.kind == Kind::kNot);
  const bool is_child_used = is_used && (node.kind == Kind::kNot || NeedsAll(node, wants_true) ||
                                         CanPrune(node, wants_true));
  for (const PredicateNodePointer& child : node.children) {
    Collect(*child, wants_child_true, is_child_used, comparisons);
  }
}

std::vector<GranulePruner::Comparison> GranulePruner::Comparisons() const {
  std::vector<Comparison> comparisons;
  Collect(root_, true, true, &comparisons);
  return comparisons;
}

std::vector<ComparisonExplanation> GranulePruner::Explain() const {
  std::vector<ComparisonExplanation> explanations;
  for (const auto& [leaf, wants_true, is_used] : Comparisons()) {
    ComparisonExplanation& explanation = explanations.emplace_back();
    explanation.comparison = wants_true ? leaf->text : leaf->negated_text;
    if (leaf->column) explanation.column = leaf->column->name();
    const bool can_prune = CanPrune(*leaf, wants_true);
    explanation.is_used = can_prune && is_used;
    const PruningPlan& plan = SelectPlan(*leaf, wants_true);
    const uint8_t parts = leaf->column ? parts_[FindColumn(*leaf)] : uint8_t{0};
    explanation.reason = WhyChosen(plan, parts);
    if (plan.can_prune && !can_prune) {
      explanation.reason = WhyUseless(*leaf, plan, parts);
    } else if (can_prune && !is_used) {
      explanation.reason = "not used, because another operand of the OR cannot prune";
    }
  }
  return explanations;
}

std::vector<size_t> GranulePruner::ColumnsOfComparisons() const {
  std::vector<size_t> columns;
  for (const Comparison& comparison : Comparisons()) {
    columns.push_back(comparison.leaf->column ? FindColumn(*comparison.leaf) : npos);
  }
  return columns;
}

}  // namespace blocksieve::internal
