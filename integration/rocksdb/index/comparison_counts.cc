#include "integration/rocksdb/index/comparison_counts.h"

#include <utility>

#include "integration/rocksdb/index/counting_indexes.h"

namespace blocksieve::rocksdb_plugin {
namespace {

/// Stands for an index where only its being there matters.
class AnyIndex final : public ColumnIndex {
 public:
  void KeepContaining(uint64_t, GranuleSet*) const override {}
  void KeepOverlapping(const ValueRange&, GranuleSet*) const override {}
  void KeepDiffering(const Value&, GranuleSet*) const override {}
  void KeepMissing(GranuleSet*) const override {}
  void KeepPresent(GranuleSet*) const override {}
};

const AnyIndex kAnyIndex;

}  // namespace

ComparisonCounts::ComparisonCounts(const Predicate& predicate, bool count_granules)
    : predicate_(predicate) {
  for (const SkipExplanation& one : predicate.Explain([](const Column&) { return &kAnyIndex; })) {
    ComparisonExplanation& comparison = comparisons_.emplace_back();
    comparison.comparison = one.comparison;
    comparison.column = one.column;
    std::optional<Column>& column = columns_.emplace_back();
    for (const Column& candidate : predicate.columns()) {
      if (candidate.name() == one.column) column = candidate;
    }
    std::optional<Predicate>& alone = alone_.emplace_back();
    if (!count_granules) continue;
    Result<Predicate> parsed = Predicate::Parse(one.comparison, predicate.columns());
    if (parsed.ok()) alone = *std::move(parsed);
  }
}

bool ComparisonCounts::CanEverSkip() const {
  return predicate_.CanSkip([](const Column&) { return &kAnyIndex; });
}

void ComparisonCounts::AddFile(const GranuleIndex* index) {
  files_seen_ = true;
  if (index == nullptr) return;
  CountingIndexes indexes(*index, nullptr);
  const ColumnIndexLookup lookup = indexes.Lookup();
  const auto num_granules = static_cast<size_t>(index->num_granules());
  for (size_t i = 0; i < comparisons_.size(); ++i) {
    if (!columns_[i] || lookup(*columns_[i]) == nullptr) continue;
    indexed_.insert(columns_[i]->ToText());
    ++comparisons_[i].num_files;
    comparisons_[i].num_granules += num_granules;
    if (alone_[i]) {
      comparisons_[i].selected += alone_[i]->Candidates(num_granules, lookup).Count();
    }
  }
}

void ComparisonCounts::Write(ScanExplanation* explanation) const {
  const std::vector<SkipExplanation> reasons =
      predicate_.Explain([this](const Column& column) -> const ColumnIndex* {
        return !files_seen_ || indexed_.count(column.ToText()) != 0 ? &kAnyIndex : nullptr;
      });
  explanation->comparisons = comparisons_;
  for (size_t i = 0; i < reasons.size() && i < comparisons_.size(); ++i) {
    explanation->comparisons[i].is_used = reasons[i].is_used;
    explanation->comparisons[i].reason = reasons[i].reason;
  }
}

}  // namespace blocksieve::rocksdb_plugin
