// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "blocksieve/scan.h"
#include "lib/skip/column_index.h"
#include "lib/skip/granule_pruner.h"

namespace blocksieve {
namespace {

using internal::GranulePruner;

constexpr size_t kMaxFileProblems = 100;

constexpr uint8_t kAllParts = internal::kFilterPart | internal::kBoundsPart | internal::kMarkPart;

}  // namespace

ScanPruner::ScanPruner(const Predicate& predicate, ScanExplanation* explanation,
                       const ScanPrunerOptions& options)
    : predicate_(predicate),
      explanation_(*explanation),
      counts_comparisons_(options.count_comparisons),
      columns_(predicate.columns().size()),
      parts_(columns_.size()) {
  const GranulePruner with_all(predicate, std::vector<uint8_t>(columns_.size(), kAllParts));
  explanation_.comparisons = with_all.Explain();
  for (size_t i = 0; i < columns_.size(); ++i) columns_[i].name = predicate.columns()[i].name();
  if (!options.use_index) {
    explanation_.full_scan_reason = "use_index is off";
  } else if (!with_all.CanPrune()) {
    explanation_.full_scan_reason = "no comparison of the predicate can prune granules";
  }
}

std::optional<GranuleSet> ScanPruner::PruneFile(const SkipIndex* index, std::string_view name,
                                                std::string problem) {
  assert(CanPrune());
  has_pruned_file_ = true;
  ++explanation_.num_files;
  if (index != nullptr) {
    const internal::ColumnIndexes indexes = index->FindAll(predicate_);
    const GranulePruner pruner(predicate_, indexes);
    std::vector<ColumnExplanation> of_file;
    std::vector<uint64_t> selected;
    GranuleSet candidates = pruner.Candidates(index->num_granules(), &of_file,
                                              counts_comparisons_ ? &selected : nullptr);
    CountComparisons(*index, indexes, pruner.ColumnsOfComparisons(), selected);
    if (problem.empty() && !pruner.CanPrune()) {
      problem = "its index has no part that the comparisons can use";
    }
    if (problem.empty()) {
      explanation_.num_granules += index->num_granules();
      CountProbes(&of_file);
      return candidates;
    }
  }
  ++explanation_.files_without_index;
  if (explanation_.file_problems.size() < kMaxFileProblems) {
    explanation_.file_problems.push_back(std::string(name) + ": " + problem);
  }
  return std::nullopt;
}

void ScanPruner::CountComparisons(const SkipIndex& index, const internal::ColumnIndexes& indexes,
                                  const std::vector<size_t>& columns,
                                  const std::vector<uint64_t>& selected) {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (indexes[i] != nullptr) parts_[i] |= indexes[i]->parts();
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == GranulePruner::npos || indexes[columns[i]] == nullptr) continue;
    ComparisonExplanation& comparison = explanation_.comparisons[i];
    ++comparison.num_files;
    comparison.num_granules += index.num_granules();
    if (counts_comparisons_) comparison.granules_selected += selected[i];
  }
}

void ScanPruner::CountProbes(std::vector<ColumnExplanation>* of_file) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    ColumnExplanation& column = columns_[i];
    column.num_probes += (*of_file)[i].num_probes;
    column.index_bytes += (*of_file)[i].index_bytes;
    column.filters.merge((*of_file)[i].filters);
    explanation_.index_bytes_touched += (*of_file)[i].index_bytes;
  }
}

uint64_t ScanPruner::Select(const SkipIndex& index, const GranuleSet& granules) {
  assert(granules.num_granules() == index.num_granules());
  if (granules.IsEmpty()) {
    ++explanation_.files_pruned;
    return 0;
  }
  explanation_.index_bytes_touched += index.key_bytes();
  explanation_.granules_selected += granules.Count();
  uint64_t rows = 0;
  for (size_t granule = 0; granule < index.num_granules(); ++granule) {
    if (!granules.Has(granule)) continue;
    rows += index.NumRows(granule);
    explanation_.granules_always_match += index.AlwaysMatches(granule);
  }
  return rows;
}

void ScanPruner::Finish() {
  ScanExplanation& e = explanation_;
  if (e.full_scan_reason.empty() && e.num_files != 0 && e.files_not_reached == 0 &&
      e.files_without_index == e.num_files) {
    e.full_scan_reason = "no file has an index that can prune granules";
  }
  e.is_full_scan = !e.full_scan_reason.empty();
  if (!has_pruned_file_) return;
  e.columns.clear();
  std::copy_if(columns_.begin(), columns_.end(), std::back_inserter(e.columns),
               [](const ColumnExplanation& column) { return column.num_probes != 0; });
  const std::vector<ComparisonExplanation> reasons = GranulePruner(predicate_, parts_).Explain();
  for (size_t i = 0; i < reasons.size(); ++i) {
    e.comparisons[i].is_used = reasons[i].is_used;
    e.comparisons[i].reason = reasons[i].reason;
  }
}

}  // namespace blocksieve
