#include <new>
#include <set>

#include "blocksieve/skip_index.h"
#include "lib/base/errors.h"
#include "lib/column/column_set.h"
#include "lib/column/values.h"
#include "lib/granule/granule_index.h"

namespace blocksieve {
namespace {

constexpr size_t kMaxColumns = 256;

Status CheckColumns(const ColumnList& columns) {
  if (!columns.status().ok()) return columns.status();
  if (columns.empty() || columns.size() > kMaxColumns) {
    return Status::InvalidArgument("number of columns is " + std::to_string(columns.size()) +
                                   "; allowed: 1 to " + std::to_string(kMaxColumns));
  }
  std::set<std::string> names;
  for (const Column& column : columns) {
    if (!names.insert(column.name()).second) {
      return Status::InvalidArgument("columns has \"" + column.name() + "\" twice; allowed: once");
    }
  }
  return Status::Ok();
}

}  // namespace

struct SkipIndexBuilder::Parts {
  Parts(const ColumnList& all, GranuleIndexBuilder builder)
      : columns(all), granules(std::move(builder)) {}

  internal::ColumnSet columns;
  GranuleIndexBuilder granules;
  Status status;  // errors of extracting values
};

SkipIndexBuilder::SkipIndexBuilder(std::unique_ptr<Parts> parts) noexcept
    : parts_(std::move(parts)) {}
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
    const IndexParts parts = internal::IndexPartsOf(column);
    indexed.with_filters = parts != IndexParts::kBounds;
    indexed.with_bounds =
        parts != IndexParts::kFilters &&
        internal::TokeniserOf(column) == Tokeniser::kNone;  // tokens are not compared
    indexed.may_omit_filters = parts == IndexParts::kAutomatic;
  }
  Result<GranuleIndexBuilder> builder = GranuleIndexBuilder::Create(granules);
  if (!builder.ok()) return builder.status();
  return SkipIndexBuilder(std::make_unique<Parts>(options.columns, *std::move(builder)));
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

void SkipIndexBuilder::AddRow(std::string_view key, std::string_view row,
                              uint64_t row_bytes) noexcept {
  if (!parts_->status.ok()) return;
  parts_->granules.StartRow(key, row_bytes);
  try {
    parts_->columns.ForEachIndexed(row, [this](size_t column, const Value& value) {
      parts_->granules.AddValue(column, value);
      return true;
    });
  } catch (const std::bad_alloc&) {
    parts_->status = internal::OutOfMemory();
  }
}

void SkipIndexBuilder::AddEmptyRow(std::string_view key) noexcept {
  parts_->granules.StartRow(key, key.size());
}

void SkipIndexBuilder::AddAlwaysMatchingRow(std::string_view key, uint64_t row_bytes) noexcept {
  parts_->granules.StartRow(key, row_bytes);
  parts_->granules.MarkAlwaysMatch();
}

void SkipIndexBuilder::NoteSequence(uint64_t sequence) noexcept {
  parts_->granules.NoteSequence(sequence);
}

void SkipIndexBuilder::LimitGranules(uint64_t rows, uint64_t bytes) noexcept {
  parts_->granules.LimitGranules(rows, bytes);
}

void SkipIndexBuilder::CloseGranule() noexcept { parts_->granules.CloseGranule(); }

Result<std::string> SkipIndexBuilder::Finish() noexcept {
  if (!parts_->status.ok()) return std::exchange(parts_->status, internal::OutOfMemory());
  return parts_->granules.Finish();
}

uint64_t SkipIndexBuilder::needed_bytes() const noexcept { return parts_->granules.needed_bytes(); }

}  // namespace blocksieve
