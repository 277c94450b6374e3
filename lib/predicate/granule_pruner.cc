#include "lib/predicate/granule_pruner.h"

#include <algorithm>
#include <cassert>

namespace blocksieve::internal {
namespace {

using Kind = PredicateNode::Kind;

const PruningPlan& PlanOf(const PredicateNode& leaf, bool wants_true) noexcept {
  return wants_true ? leaf.when_true : leaf.when_false;
}

uint8_t PartsOf(const ColumnIndex* index) {
  if (index == nullptr) return 0;
  return static_cast<uint8_t>(kMarkPart | (index->HasFilters() ? kFilterPart : 0) |
                              (index->HasBounds() ? kBoundsPart : 0));
}

bool CanUse(const ColumnIndex* index, const PruningPlan& plan) {
  return plan.can_prune && (plan.alternatives.empty() || (plan.parts & PartsOf(index)) != 0);
}

// Such as "filters and bounds, 2 values".
std::string ReasonOf(const PruningPlan& plan, const ColumnIndex* index) {
  if (!plan.names_parts || plan.alternatives.empty()) return plan.reason;
  const unsigned asked = plan.parts & PartsOf(index);
  const char* names = asked == kFilterPart                   ? "filters"
                      : asked == (kFilterPart | kBoundsPart) ? "filters and bounds"
                      : asked == kMarkPart                   ? "which granules have the column"
                                                             : "bounds";
  return names + plan.reason;
}

std::string WhyUseless(const PredicateNode& leaf, const PruningPlan& plan,
                       const ColumnIndex* index) {
  const char* missing = index == nullptr            ? "no index"
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

GranulePruner::GranulePruner(const Predicate& predicate, const ColumnIndexLookup& lookup)
    : root_(PredicateAccess::Root(predicate)), columns_(predicate.columns()) {
  for (const Column& column : columns_) indexes_.push_back(lookup(column));
}

const ColumnIndex* GranulePruner::IndexOf(const PredicateNode& leaf) const {
  const auto column = std::find(columns_.begin(), columns_.end(), *leaf.column);
  return indexes_[static_cast<size_t>(column - columns_.begin())];
}

bool GranulePruner::CanPrune(const PredicateNode& node, bool wants_true) const {
  if (node.IsLeaf()) {
    const PruningPlan& plan = PlanOf(node, wants_true);
    return CanUse(plan.alternatives.empty() ? nullptr : IndexOf(node), plan);
  }
  if (node.kind == Kind::kNot) return CanPrune(*node.children[0], !wants_true);
  const auto can_prune = [&](const PredicateNodePointer& child) {
    return CanPrune(*child, wants_true);
  };
  return NeedsAll(node, wants_true)
             ? std::any_of(node.children.begin(), node.children.end(), can_prune)
             : std::all_of(node.children.begin(), node.children.end(), can_prune);
}

void GranulePruner::Prune(const PredicateNode& node, bool wants_true,
                          GranuleSet* candidates) const {
  assert(CanPrune(node, wants_true));
  if (node.kind == Kind::kNot) return Prune(*node.children[0], !wants_true, candidates);
  if (node.IsLeaf()) {
    const auto prune_by_steps = [&](const std::vector<PruningStep>& steps, GranuleSet* set) {
      for (const PruningStep& step : steps) {
        if (set->IsEmpty()) return;
        step(*IndexOf(node), set);
      }
    };
    return PruneUnlessAny(PlanOf(node, wants_true).alternatives, prune_by_steps, candidates);
  }
  if (!NeedsAll(node, wants_true)) {
    const auto prune_by_child = [&](const PredicateNodePointer& child, GranuleSet* set) {
      Prune(*child, wants_true, set);
    };
    return PruneUnlessAny(node.children, prune_by_child, candidates);
  }
  for (const PredicateNodePointer& child : node.children) {
    if (candidates->IsEmpty()) return;
    if (CanPrune(*child, wants_true)) Prune(*child, wants_true, candidates);
  }
}

void GranulePruner::Explain(const PredicateNode& node, bool wants_true, bool is_used,
                            std::vector<PruningExplanation>* explanations) const {
  if (node.IsLeaf()) {
    PruningExplanation explanation;
    explanation.comparison = wants_true ? node.text : node.negated_text;
    if (node.column) explanation.column = node.column->name();
    explanation.can_prune = CanPrune(node, wants_true);
    explanation.is_used = explanation.can_prune && is_used;
    const PruningPlan& plan = PlanOf(node, wants_true);
    const ColumnIndex* const index = node.column ? IndexOf(node) : nullptr;
    explanation.reason = ReasonOf(plan, index);
    if (plan.can_prune && !explanation.can_prune) {
      explanation.reason = WhyUseless(node, plan, index);
    } else if (explanation.can_prune && !is_used) {
      explanation.reason = "not used, because another operand of the OR cannot prune";
    }
    explanations->push_back(std::move(explanation));
    return;
  }
  const bool wants_child_true = wants_true != (node.kind == Kind::kNot);
  const bool is_child_used = is_used && (node.kind == Kind::kNot || NeedsAll(node, wants_true) ||
                                         CanPrune(node, wants_true));
  for (const PredicateNodePointer& child : node.children) {
    Explain(*child, wants_child_true, is_child_used, explanations);
  }
}

}  // namespace blocksieve::internal
