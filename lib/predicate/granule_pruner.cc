#include "lib/predicate/granule_pruner.h"

#include <algorithm>
#include <cassert>

namespace blocksieve::internal {
namespace {

using Kind = PredicateNode::Kind;

const SkipPlan& PlanOf(const PredicateNode& leaf, bool asks_true) noexcept {
  return asks_true ? leaf.when_true : leaf.when_false;
}

uint8_t PartsOf(const ColumnIndex* index) {
  if (index == nullptr) return 0;
  return static_cast<uint8_t>(kMarkPart | (index->HasFilters() ? kFilterPart : 0) |
                              (index->HasBounds() ? kBoundsPart : 0));
}

bool Serves(const ColumnIndex* index, const SkipPlan& plan) {
  return plan.can_prune && (plan.alternatives.empty() || (plan.parts & PartsOf(index)) != 0);
}

// "filter and min/max, 2 values".
std::string ReasonOf(const SkipPlan& plan, const ColumnIndex* index) {
  if (!plan.names_parts || plan.alternatives.empty()) return plan.reason;
  const unsigned asked = plan.parts & PartsOf(index);
  const char* names = asked == kFilterPart                   ? "filter"
                      : asked == (kFilterPart | kBoundsPart) ? "filter and min/max"
                      : asked == kMarkPart                   ? "which granules have the column"
                                                             : "min/max";
  return names + plan.reason;
}

std::string WhyUseless(const PredicateNode& leaf, const SkipPlan& plan, const ColumnIndex* index) {
  const char* missing = index == nullptr            ? "no index"
                        : plan.parts == kFilterPart ? "no filters"
                        : plan.parts == kBoundsPart ? "no bounds"
                                                    : "neither filters nor bounds";
  return "column '" + leaf.column->name() + "' has " + missing;
}

// Whether all children must have the outcome; otherwise one is enough.
bool NeedsAll(const PredicateNode& node, bool asks_true) noexcept {
  return (node.kind == Kind::kAnd) == asks_true;
}

// Keeps the granules that `keep(alternative, set)` leaves for at least one of the alternatives.
template <class Alternatives, class KeepOne>
void KeepAny(const Alternatives& alternatives, const KeepOne& keep, GranuleSet* candidates) {
  if (alternatives.size() == 1) return keep(alternatives[0], candidates);
  GranuleSet kept = GranuleSet::None(candidates->num_granules());
  GranuleSet one = kept;
  for (const auto& alternative : alternatives) {
    one = *candidates;
    keep(alternative, &one);
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

bool GranulePruner::CanPrune(const PredicateNode& node, bool asks_true) const {
  if (node.IsLeaf()) {
    const SkipPlan& plan = PlanOf(node, asks_true);
    return Serves(plan.alternatives.empty() ? nullptr : IndexOf(node), plan);
  }
  if (node.kind == Kind::kNot) return CanPrune(*node.children[0], !asks_true);
  const auto can_prune = [&](const PredicateNodePointer& child) {
    return CanPrune(*child, asks_true);
  };
  return NeedsAll(node, asks_true)
             ? std::any_of(node.children.begin(), node.children.end(), can_prune)
             : std::all_of(node.children.begin(), node.children.end(), can_prune);
}

void GranulePruner::Keep(const PredicateNode& node, bool asks_true, GranuleSet* candidates) const {
  assert(CanPrune(node, asks_true));
  if (node.kind == Kind::kNot) return Keep(*node.children[0], !asks_true, candidates);
  if (node.IsLeaf()) {
    const auto keep_steps = [&](const std::vector<SkipStep>& steps, GranuleSet* set) {
      for (const SkipStep& step : steps) {
        if (set->IsEmpty()) return;
        step(*IndexOf(node), set);
      }
    };
    return KeepAny(PlanOf(node, asks_true).alternatives, keep_steps, candidates);
  }
  if (!NeedsAll(node, asks_true)) {
    const auto keep_child = [&](const PredicateNodePointer& child, GranuleSet* set) {
      Keep(*child, asks_true, set);
    };
    return KeepAny(node.children, keep_child, candidates);
  }
  for (const PredicateNodePointer& child : node.children) {
    if (candidates->IsEmpty()) return;
    if (CanPrune(*child, asks_true)) Keep(*child, asks_true, candidates);
  }
}

void GranulePruner::Explain(const PredicateNode& node, bool asks_true, bool is_used,
                            std::vector<PruningExplanation>* explanations) const {
  if (node.IsLeaf()) {
    PruningExplanation explanation;
    explanation.comparison = asks_true ? node.text : node.negated_text;
    if (node.column) explanation.column = node.column->name();
    explanation.can_prune = CanPrune(node, asks_true);
    explanation.is_used = explanation.can_prune && is_used;
    const SkipPlan& plan = PlanOf(node, asks_true);
    const ColumnIndex* const index = node.column ? IndexOf(node) : nullptr;
    explanation.reason = ReasonOf(plan, index);
    if (plan.can_prune && !explanation.can_prune) {
      explanation.reason = WhyUseless(node, plan, index);
    } else if (explanation.can_prune && !is_used) {
      explanation.reason = "not used, because an alternative to it cannot skip";
    }
    explanations->push_back(std::move(explanation));
    return;
  }
  const bool asks_child_true = asks_true != (node.kind == Kind::kNot);
  const bool is_child_used = is_used && (node.kind == Kind::kNot || NeedsAll(node, asks_true) ||
                                         CanPrune(node, asks_true));
  for (const PredicateNodePointer& child : node.children) {
    Explain(*child, asks_child_true, is_child_used, explanations);
  }
}

}  // namespace blocksieve::internal
