// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "lib/column/definition.h"
#include "lib/predicate/node.h"

namespace blocksieve::internal {
namespace {

using Kind = PredicateNode::Kind;
using Steps = std::vector<PruningStep>;

PruningStep Containing(const Value& value) { return {.by = PruneBy::kHash, .hash = value.Hash()}; }

PruningStep Overlapping(const ValueRange& range) {
  // An unbounded range only requires a value.
  if (!range.low && !range.high) return {.by = PruneBy::kPresence};
  return {.by = PruneBy::kRange, .range = range};
}

PruningPlan CannotPrune(std::string reason) { return {false, {}, std::move(reason)}; }
PruningPlan Never() { return {true, {}, "no row can match"}; }

PruningPlan ByMinMax(std::vector<Steps> alternatives, std::string details = "") {
  return {true, std::move(alternatives), std::move(details), kBoundsPart, /*names_parts=*/true};
}

std::string Count(size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

PruningPlan ValuesTrue(const PredicateNode& leaf) {
  if (leaf.values.empty()) return Never();
  std::vector<uint64_t> hashes;
  for (const Value& value : leaf.values) hashes.push_back(value.Hash());
  return {true,
          {{{.by = PruneBy::kAny, .values = leaf.values, .hashes = std::move(hashes)}}},
          ", " + Count(leaf.values.size(), "value"),
          kFilterPart | kBoundsPart,
          /*names_parts=*/true};
}

PruningPlan ValuesFalse(const PredicateNode& leaf) {
  if (leaf.values.empty()) return CannotPrune("every row that has the column matches");
  return {true,
          {{{.by = PruneBy::kDiffers, .values = leaf.values}}},
          "prunes only granules that have no other value",
          kBoundsPart};
}

PruningPlan RangeTrue(const PredicateNode& leaf) {
  PruningPlan plan = ByMinMax({{Overlapping(leaf.range)}});
  if (leaf.range.low || leaf.range.high) return plan;
  plan.parts = kMarkPart;
  return plan;
}

PruningPlan RangeFalse(const PredicateNode& leaf) {
  PruningPlan plan = ByMinMax({});
  if (leaf.range.low) {
    plan.alternatives.push_back(
        {Overlapping({std::nullopt, leaf.range.low, true, !leaf.range.includes_low})});
  }
  if (leaf.range.high) {
    plan.alternatives.push_back(
        {Overlapping({leaf.range.high, std::nullopt, !leaf.range.includes_high, true})});
  }
  return plan.alternatives.empty() ? Never() : plan;
}

PruningPlan PatternTrue(const PredicateNode& leaf) {
  if (!leaf.range.low) return CannotPrune("the pattern begins with a wildcard");
  return ByMinMax({{Overlapping(leaf.range)}}, " against the pattern's prefix");
}

// Plan for texts that match one of several patterns, by the tokens that each pattern requires.
PruningPlan TokensTrue(const Column& column, const std::vector<Pattern>& patterns) {
  const bool is_words = column.definition().tokeniser == Tokeniser::kWords;
  PruningPlan plan{true, {}, "", kFilterPart, /*names_parts=*/true};
  size_t num_tokens = 0;
  for (const Pattern& pattern : patterns) {
    Steps steps;
    for (const std::string_view token : pattern.RequiredTokens(column)) {
      steps.push_back(Containing(Value::Bytes(token)));
    }
    if (steps.empty()) {
      return CannotPrune(is_words
                             ? "the pattern has no complete word"
                             : "fewer than " + std::to_string(column.definition().ngram_length) +
                                   " characters in a row to look for");
    }
    num_tokens += steps.size();
    plan.alternatives.push_back(std::move(steps));
  }
  plan.reason = ", " + Count(num_tokens, is_words ? "word" : "n-gram");
  return plan;
}

void PlanTokenised(PredicateNode* leaf) {
  const Column& column = *leaf->column;
  leaf->when_false = CannotPrune("an index of tokens cannot tell which texts lack one");
  switch (leaf->kind) {
    case Kind::kWord:
      leaf->when_true = {true,
                         {{Containing(Value::Bytes(leaf->literals[0].text))}},
                         ", 1 word",
                         kFilterPart,
                         /*names_parts=*/true};
      return;
    case Kind::kPattern:
      leaf->when_true = TokensTrue(column, {*leaf->pattern});
      return;
    case Kind::kValues: {
      std::vector<Pattern> patterns;
      for (const Value& value : leaf->values) patterns.push_back(Pattern::Equal(value.bytes()));
      leaf->when_true = patterns.empty() ? Never() : TokensTrue(column, patterns);
      return;
    }
    default:
      leaf->when_true = CannotPrune("an index of tokens does not know the order of texts");
  }
}

}  // namespace

void PlanPruning(PredicateNode* leaf) {
  if (leaf->kind == Kind::kConstant) {
    leaf->when_true = leaf->constant ? CannotPrune("every row matches") : Never();
    leaf->when_false = leaf->constant ? Never() : CannotPrune("every row matches");
    return;
  }
  const bool is_tokenised = leaf->column->has_tokens();
  if (leaf->kind == Kind::kMissing) {
    leaf->when_true = {true,
                       {{{.by = PruneBy::kMissing}}},
                       "prunes granules in which every row has the column",
                       kMarkPart};
    // A text without tokens is a value, but is not in an index of tokens.
    leaf->when_false = is_tokenised ? CannotPrune("a text may have no tokens")
                                    : PruningPlan{true,
                                                  {{{.by = PruneBy::kPresence}}},
                                                  "prunes granules in which no row has the column",
                                                  kMarkPart};
    return;
  }
  if (is_tokenised) return PlanTokenised(leaf);
  switch (leaf->kind) {
    case Kind::kValues:
      leaf->when_true = ValuesTrue(*leaf);
      leaf->when_false = ValuesFalse(*leaf);
      return;
    case Kind::kRange:
      leaf->when_true = leaf->values.empty() ? RangeTrue(*leaf) : ValuesTrue(*leaf);
      leaf->when_false = RangeFalse(*leaf);
      return;
    default:
      leaf->when_true = PatternTrue(*leaf);
      leaf->when_false = CannotPrune("bounds rarely rule out a negated pattern");
  }
}

}  // namespace blocksieve::internal
