#include "lib/skip/scan_pruner.h"

#include "lib/predicate/granule_pruner.h"
#include "lib/skip/file_index.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace blocksieve::internal {
namespace {

constexpr size_t kMaxFileProblems = 100;

/// An index that has parts, but prunes nothing.
class AnyIndex final : public ColumnIndex {
 public:
  constexpr AnyIndex(bool has_filters, bool has_bounds)
      : has_filters_(has_filters), has_bounds_(has_bounds) {}

  bool HasFilters() const override { return has_filters_; }
  bool HasBounds() const override { return has_bounds_; }
  void PruneByHash(uint64_t, GranuleSet*) const override {}
  void PruneByRange(const ValueRange&, GranuleSet*) const override {}
  void PruneByInequality(const Value&, GranuleSet*) const override {}
  void PruneByMissing(GranuleSet*) const override {}
  void PruneByPresence(GranuleSet*) const override {}

 private:
  const bool has_filters_;
  const bool has_bounds_;
};

// By whether they have filters, and whether they have bounds.
const AnyIndex kIndexesOfParts[2][2] = {{AnyIndex(false, false), AnyIndex(false, true)},
                                        {AnyIndex(true, false), AnyIndex(true, true)}};

/// Forwards to an index and counts the probes.
class CountingIndex final : public ColumnIndex {
 public:
  CountingIndex(const ColumnIndex& index, const GranuleColumnInfo& info, std::string name,
                ScanExplanation* explanation)
      : index_(index), info_(info), name_(std::move(name)), explanation_(*explanation) {}

  bool HasFilters() const override { return index_.HasFilters(); }
  bool HasBounds() const override { return index_.HasBounds(); }
  void PruneByHash(uint64_t value_hash, GranuleSet* candidates) const override {
    Count(info_.probe_bytes);
    index_.PruneByHash(value_hash, candidates);
  }
  void PruneByAny(std::span<const Value> values, GranuleSet* candidates) const override {
    Count(values.size() * info_.probe_bytes + info_.bounds_bytes);
    index_.PruneByAny(values, candidates);
  }
  void PruneByRange(const ValueRange& range, GranuleSet* candidates) const override {
    Count(info_.bounds_bytes);
    index_.PruneByRange(range, candidates);
  }
  void PruneByInequality(const Value& value, GranuleSet* candidates) const override {
    Count(info_.bounds_bytes);
    index_.PruneByInequality(value, candidates);
  }
  void PruneByMissing(GranuleSet* candidates) const override {
    Count(info_.mark_bytes);
    index_.PruneByMissing(candidates);
  }
  void PruneByPresence(GranuleSet* candidates) const override {
    Count(info_.mark_bytes);
    index_.PruneByPresence(candidates);
  }

 private:
  void Count(uint64_t bytes) const {
    ColumnExplanation& column = FindColumn();
    ++column.num_probes;
    column.index_bytes += bytes;
    column.filters.emplace(GranuleFiltersName(info_));
    explanation_.index_bytes_touched += bytes;
  }

  ColumnExplanation& FindColumn() const {
    for (ColumnExplanation& column : explanation_.columns) {
      if (column.name == name_) return column;
    }
    return explanation_.columns.emplace_back(ColumnExplanation{name_, 0, 0, {}});
  }

  const ColumnIndex& index_;
  const GranuleColumnInfo& info_;
  const std::string name_;
  ScanExplanation& explanation_;
};

}  // namespace

ScanPruner::ScanPruner(const Predicate& predicate, ScanExplanation* explanation,
                       const ScanPrunerOptions& options)
    : predicate_(predicate), explanation_(*explanation) {
  const auto any_index = [](const Column&) { return &kIndexesOfParts[1][1]; };
  for (const PruningExplanation& one : GranulePruner(predicate, any_index).Explain()) {
    explanation_.comparisons.push_back({.comparison = one.comparison,
                                        .column = one.column,
                                        .is_used = one.is_used,
                                        .reason = one.reason});
    Comparison& comparison = comparisons_.emplace_back();
    for (const Column& column : predicate.columns()) {
      if (column.name() == one.column) comparison.column = column;
    }
    if (!options.count_comparisons) continue;
    Result<Predicate> parsed = Predicate::Parse(one.comparison, predicate.columns());
    if (parsed.ok()) comparison.alone = *std::move(parsed);
  }
  if (!options.use_index) {
    explanation_.full_scan_reason = "use_index is off";
  } else if (!GranulePruner(predicate, any_index).CanPrune()) {
    explanation_.full_scan_reason = "no comparison of the predicate can prune granules";
  }
}

std::optional<GranuleSet> ScanPruner::PruneFile(const SkipIndex* index, std::string_view name,
                                                std::string problem) {
  assert(CanPrune());
  has_pruned_file_ = true;
  ++explanation_.num_files;
  if (index != nullptr) {
    CountComparisons(*index);
    const GranuleIndex& granules = index->granules();
    std::map<size_t, CountingIndex> counting;  // by column number in the file
    const auto find = [&](const Column& column) -> const ColumnIndex* {
      const std::optional<size_t> number = index->FindColumn(column);
      if (!number) return nullptr;
      return &counting
                  .try_emplace(*number, granules.column_index(*number), granules.column(*number),
                               column.name(), &explanation_)
                  .first->second;
    };
    const GranulePruner pruner(predicate_, find);
    if (problem.empty() && !pruner.CanPrune()) {
      problem = "its index has no part that the comparisons can use";
    }
    if (problem.empty()) {
      explanation_.num_granules += index->num_granules();
      return pruner.Candidates(index->num_granules());
    }
  }
  ++explanation_.files_without_index;
  if (explanation_.file_problems.size() < kMaxFileProblems) {
    explanation_.file_problems.push_back(std::string(name) + ": " + problem);
  }
  return std::nullopt;
}

std::string ScanPruner::IndexedColumn::LeftOut() const {
  if (without_filters + without_bounds == 0) return "";
  const char* parts = without_bounds == 0    ? "filters"
                      : without_filters == 0 ? "bounds"
                                             : "filters and bounds";
  return std::string("; ") + parts + " left out for size in " +
         std::to_string(std::max(without_filters, without_bounds)) + " of " +
         std::to_string(files) + " files";
}

void ScanPruner::RecordParts(const SkipIndex& index) {
  for (const Column& column : predicate_.columns()) {
    const std::optional<size_t> number = index.FindColumn(column);
    if (!number) continue;
    const GranuleColumnInfo& info = index.granules().column(*number);
    IndexedColumn& indexed = indexed_[column.ToText()];
    indexed.has_filters |= info.filters == PartState::kPresent;
    indexed.has_bounds |= info.bounds == PartState::kPresent;
    ++indexed.files;
    indexed.without_filters += info.filters == PartState::kOverBudget;
    indexed.without_bounds += info.bounds == PartState::kOverBudget;
  }
}

void ScanPruner::CountComparisons(const SkipIndex& index) {
  RecordParts(index);
  for (size_t i = 0; i < comparisons_.size(); ++i) {
    const auto& [column, alone] = comparisons_[i];
    if (!column || !index.FindColumn(*column)) continue;
    ComparisonExplanation& comparison = explanation_.comparisons[i];
    ++comparison.num_files;
    comparison.num_granules += index.num_granules();
    if (alone) comparison.granules_selected += index.Candidates(*alone).Count();
  }
}

uint64_t ScanPruner::Select(const SkipIndex& index, const GranuleSet& granules) {
  assert(granules.num_granules() == index.num_granules());
  if (granules.IsEmpty()) {
    ++explanation_.files_pruned;
    return 0;
  }
  explanation_.index_bytes_touched += index.granules().key_bytes();
  explanation_.granules_selected += granules.Count();
  uint64_t rows = 0;
  for (size_t granule = 0; granule < index.num_granules(); ++granule) {
    if (!granules.Has(granule)) continue;
    rows += index.granules().NumRows(granule);
    explanation_.granules_always_match += index.granules().AlwaysMatches(granule);
  }
  return rows;
}

void ScanPruner::Finish() {
  ScanExplanation& e = explanation_;
  if (e.full_scan_reason.empty() && e.num_files != 0 && e.files_without_index == e.num_files) {
    e.full_scan_reason = "no file has an index that can prune granules";
  }
  e.is_full_scan = !e.full_scan_reason.empty();
  if (!has_pruned_file_) return;
  const std::vector<PruningExplanation> reasons =
      GranulePruner(predicate_, [this](const Column& column) -> const ColumnIndex* {
        const auto found = indexed_.find(column.ToText());
        if (found == indexed_.end()) return nullptr;
        return &kIndexesOfParts[found->second.has_filters][found->second.has_bounds];
      }).Explain();
  for (size_t i = 0; i < reasons.size(); ++i) {
    e.comparisons[i].is_used = reasons[i].is_used;
    e.comparisons[i].reason = reasons[i].reason;
    if (!comparisons_[i].column) continue;
    const auto found = indexed_.find(comparisons_[i].column->ToText());
    if (found != indexed_.end()) e.comparisons[i].reason += found->second.LeftOut();
  }
}

}  // namespace blocksieve::internal
