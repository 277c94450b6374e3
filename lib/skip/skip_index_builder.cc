#include <new>
#include <set>

#include "blocksieve/skip_index.h"
#include "lib/base/errors.h"
#include "lib/column/column_set.h"

namespace blocksieve {
namespace {

constexpr size_t kMaxColumns = 256;

Status CheckColumns(const ColumnList& columns) {
  if (!columns.status().ok()) return columns.status();
  if (columns.empty() || columns.size() > kMaxColumns) {
    return Status::InvalidArgument("number of columns is " + std::to_string(columns.size()) +
                                   "; allowed is 1 to " + std::to_string(kMaxColumns));
  }
  std::set<std::string> names;
  for (const Column& column : columns) {
    if (!names.insert(column.name()).second) {
      return Status::InvalidArgument("columns has \"" + column.name() +
                                     "\" twice; allowed is once");
    }
  }
  return Status::Ok();
}

}  // namespace

SkipIndexBuilder::SkipIndexBuilder(std::unique_ptr<internal::ColumnSet> columns,
                                   GranuleIndexBuilder granules)
    : columns_(std::move(columns)), granules_(std::move(granules)) {}
SkipIndexBuilder::SkipIndexBuilder(SkipIndexBuilder&&) noexcept = default;
SkipIndexBuilder& SkipIndexBuilder::operator=(SkipIndexBuilder&&) noexcept = default;
SkipIndexBuilder::~SkipIndexBuilder() = default;

Result<SkipIndexBuilder> SkipIndexBuilder::Create(const SkipIndexBuilderOptions& options) try {
  Status status = CheckColumns(options.columns);
  if (!status.ok()) return status;
  GranuleIndexOptions granules;
  granules.granule_rows = options.granule_rows;
  granules.granule_bytes = options.granule_bytes;
  granules.max_index_bytes = options.max_index_bytes;
  for (const Column& column : options.columns) {
    GranuleColumnOptions& indexed = granules.columns.emplace_back();
    indexed.name = column.ToText();
    indexed.type = column.type();
    indexed.target_fpr = options.target_fpr;
    const IndexParts parts = column.index_parts();
    indexed.with_filters = parts != IndexParts::kBounds;
    indexed.with_bounds = parts != IndexParts::kFilters &&
                          column.tokeniser() == Tokeniser::kNone;  // tokens are not compared
    indexed.may_omit_filters = parts == IndexParts::kChosen;
  }
  Result<GranuleIndexBuilder> builder = GranuleIndexBuilder::Create(granules);
  if (!builder.ok()) return builder.status();
  return SkipIndexBuilder(std::make_unique<internal::ColumnSet>(options.columns),
                          *std::move(builder));
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

void SkipIndexBuilder::AddRow(std::string_view key, std::string_view row,
                              uint64_t row_bytes) noexcept {
  if (!status_.ok()) return;
  granules_.StartRow(key, row_bytes);
  try {
    columns_->ForEachIndexed(row, [this](size_t column, const Value& value) {
      granules_.AddValue(column, value);
      return true;
    });
  } catch (const std::bad_alloc&) {
    status_ = internal::OutOfMemory();
  }
}

Result<std::string> SkipIndexBuilder::Finish() noexcept {
  if (!status_.ok()) return std::exchange(status_, internal::OutOfMemory());
  return granules_.Finish();
}

}  // namespace blocksieve
