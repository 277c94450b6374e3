#include "lib/skip/summary.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/base/errors.h"

namespace blocksieve::internal {

Status SkipIndexSummarizer::AddIndex(std::span<const IndexColumnInfo> columns, uint64_t num_bytes) {
  ++summary_.num_files;
  ++summary_.files_with_index;
  summary_.index_bytes += num_bytes;
  for (const IndexColumnInfo& column : columns) {
    BLOCKSIEVE_RETURN_IF_ERROR(AddDefinition(column.definition));
    SkipIndexColumnUsage& total = usage_[column.definition];
    ++total.num_files;
    total.filter_bytes += column.filter_bytes;
    total.bounds_bytes += column.bounds_bytes;
    total.num_distinct += column.num_distinct;
    total.files_without_filters += column.filters != PartState::kPresent;
    total.files_with_bounds_only += column.filters == PartState::kBoundsSuffice;
    const auto lacks = [&](PartState why) { return column.filters == why || column.bounds == why; };
    total.files_over_budget += lacks(PartState::kOverBudget);
    total.files_over_memory += lacks(PartState::kOverMemory);
  }
  return Status::Ok();
}

void SkipIndexSummarizer::AddNeededBytes(uint64_t bytes) {
  summary_.needed_index_bytes = std::max(summary_.needed_index_bytes, bytes);
}

void SkipIndexSummarizer::AddProblem(std::string problem) {
  constexpr size_t kMaxProblems = 100;
  ++summary_.num_files;
  if (summary_.problems.size() < kMaxProblems) summary_.problems.push_back(std::move(problem));
}

Status SkipIndexSummarizer::AddDefinition(std::string_view definition) {
  usage_[std::string(definition)].definition = definition;
  const Result<Column> column = Column::Parse(definition);
  if (column.status().code() == StatusCode::kResourceExhausted) return column.status();
  if (column.ok()) columns_.insert_or_assign(column->name(), *column);
  return Status::Ok();
}

SkipIndexSummary SkipIndexSummarizer::Finish() {
  for (auto& [name, column] : columns_) summary_.columns.push_back(std::move(column));
  for (auto& [definition, total] : usage_) summary_.usage.push_back(std::move(total));
  return std::move(summary_);
}

}  // namespace blocksieve::internal
