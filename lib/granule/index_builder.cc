#include "lib/granule/granule_index.h"

#include <algorithm>
#include <cassert>
#include <exception>
#include <limits>
#include <utility>

#include "lib/base/errors.h"
#include "lib/bits/packed.h"
#include "lib/column/value_number.h"
#include "lib/column/values.h"
#include "lib/granule/column_builder.h"
#include "lib/granule/fences.h"
#include "lib/granule/format.h"
#include "lib/hash/checksum.h"

namespace blocksieve {
namespace internal {

constexpr uint64_t kNoSequence = std::numeric_limits<uint64_t>::max();

struct GranuleIndexBuilderParts {
  GranuleIndexOptions options;
  std::vector<GranuleColumnBuilder> columns;
  Status status;

  // The current granule.
  uint64_t num_rows = 0;
  uint64_t num_bytes = 0;
  bool always_match = false;
  uint64_t min_sequence = kNoSequence;
  std::string first_key;
  std::string last_key;

  // The file.
  uint64_t num_file_rows = 0;
  FenceWriter fences;
  std::vector<uint64_t> granule_rows;
  std::vector<uint64_t> min_sequences;
  std::vector<uint64_t> always_matches;  // bits
  uint64_t needed_bytes = 0;             // size of the index if nothing is dropped

  void StartRow(std::string_view key, uint64_t row_bytes);
  void CloseGranule();
  std::string GranulesPart() const;
  uint64_t NeededBytes(uint64_t granules_bytes) const;
  bool DropLargestPart();
  Result<std::string> Finish();
};

void GranuleIndexBuilderParts::StartRow(std::string_view key, uint64_t row_bytes) {
  const bool full = (options.granule_rows != 0 && num_rows >= options.granule_rows) ||
                    (options.granule_bytes != 0 && num_bytes >= options.granule_bytes);
  if (full) CloseGranule();
  if (num_rows == 0) first_key.assign(key);
  last_key.assign(key);
  ++num_rows;
  ++num_file_rows;
  num_bytes += row_bytes;
}

void GranuleIndexBuilderParts::CloseGranule() {
  if (num_rows == 0) return;
  const size_t granule = granule_rows.size();
  for (GranuleColumnBuilder& column : columns) column.CloseGranule(num_rows, always_match);
  fences.Add(first_key, last_key);
  granule_rows.push_back(num_rows);
  min_sequences.push_back(min_sequence == kNoSequence ? 0 : min_sequence);
  AppendBit(always_match, granule, &always_matches);
  num_rows = 0;
  num_bytes = 0;
  always_match = false;
  min_sequence = kNoSequence;
}

std::string GranuleIndexBuilderParts::GranulesPart() const {
  std::string part;
  // The last granule is usually short. Its row count follows from that of the file.
  const std::span<const uint64_t> rows(granule_rows);
  PackedInts::Append(rows.empty() ? rows : rows.first(rows.size() - 1), &part);
  PackedInts::Append(min_sequences, &part);
  PackedInts::AppendBits(always_matches, granule_rows.size(), &part);
  AppendCompressed(fences.bytes(), &part);
  return part;
}

uint64_t GranuleIndexBuilderParts::NeededBytes(uint64_t granules_bytes) const {
  // Upper bound of the header bytes of a column's numbers, relative to an empty column.
  constexpr uint64_t kLengthsBytes = 32;
  GranuleIndexHeader header;
  uint64_t bytes = granules_bytes;
  for (const GranuleColumnBuilder& column : columns) {
    header.columns.push_back(column.MakeHeader());
    bytes += column.filter_bytes() + column.bounds_bytes() + column.mark_bytes() + kLengthsBytes;
  }
  return bytes + EncodeGranuleIndexHeader(header).size() + kLengthsBytes;
}

/// False if there is nothing left to drop.
bool GranuleIndexBuilderParts::DropLargestPart() {
  const auto largest_filters = std::max_element(
      columns.begin(), columns.end(),
      [](const auto& a, const auto& b) { return a.filter_bytes() < b.filter_bytes(); });
  if (largest_filters == columns.end()) return false;
  if (largest_filters->filter_bytes() != 0) {
    largest_filters->DropFilters(PartState::kOverBudget);
    return true;
  }
  const auto largest_bounds = std::max_element(
      columns.begin(), columns.end(),
      [](const auto& a, const auto& b) { return a.bounds_bytes() < b.bounds_bytes(); });
  if (largest_bounds->bounds_bytes() == 0) return false;
  largest_bounds->DropBounds(PartState::kOverBudget);
  return true;
}

Result<std::string> GranuleIndexBuilderParts::Finish() {
  if (!status.ok()) return status;
  CloseGranule();
  const std::string granules = GranulesPart();
  for (GranuleColumnBuilder& column : columns) column.Prepare();
  needed_bytes = NeededBytes(granules.size());
  for (;;) {
    GranuleIndexHeader header;
    header.num_granules = granule_rows.size();
    header.num_rows = num_file_rows;
    header.granules = {granules.size(), Checksum(AsBytes(granules))};
    std::string parts = granules;
    // Filters are built only if their sizes fit.
    uint64_t expected = granules.size();
    for (const GranuleColumnBuilder& column : columns) {
      expected += column.filter_bytes() + column.bounds_bytes() + column.mark_bytes();
    }
    if (options.max_index_bytes == 0 || expected <= options.max_index_bytes) {
      parts.reserve(static_cast<size_t>(expected));
      for (const GranuleColumnBuilder& column : columns) {
        header.columns.push_back(column.MakeHeader());
        column.Append(&parts, &header.columns.back());
      }
      std::string index = EncodeGranuleIndexHeader(header);
      if (options.max_index_bytes == 0 || index.size() + parts.size() <= options.max_index_bytes) {
        index += parts;
        return index;
      }
    }
    if (!DropLargestPart()) {
      return Status::ResourceExhausted("skip index: max_index_bytes is " +
                                       std::to_string(options.max_index_bytes) +
                                       ", less than the keys of the granules alone take; raise it");
    }
  }
}

namespace {

/// Runs `action` unless an error occurred before. Turns exceptions into such errors.
template <class Action>
void Guard(GranuleIndexBuilderParts* parts, Action action) noexcept {
  if (!parts->status.ok()) return;
  try {
    action();
  } catch (const std::exception&) {  // bad_alloc, or length_error from a container
    parts->status = OutOfMemory();
  }
}

}  // namespace
}  // namespace internal

Result<GranuleIndexBuilder> GranuleIndexBuilder::Create(const GranuleIndexOptions& options) try {
  auto parts = std::make_unique<internal::GranuleIndexBuilderParts>();
  parts->options = options;
  for (const GranuleColumnOptions& column : options.columns) {
    if (column.type > internal::MaxValueType()) {
      return internal::OutOfRange("type", static_cast<double>(column.type), 0,
                                  static_cast<double>(internal::MaxValueType()));
    }
    const Result<internal::FilterSizer> sizer = internal::FilterSizer::Create(column.target_fpr);
    if (!sizer.ok()) return sizer.status();
    parts->columns.emplace_back(column, *sizer);
  }
  return GranuleIndexBuilder(std::move(parts));
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

GranuleIndexBuilder::GranuleIndexBuilder(
    std::unique_ptr<internal::GranuleIndexBuilderParts> parts) noexcept
    : parts_(std::move(parts)) {}
GranuleIndexBuilder::GranuleIndexBuilder(GranuleIndexBuilder&&) noexcept = default;
GranuleIndexBuilder& GranuleIndexBuilder::operator=(GranuleIndexBuilder&&) noexcept = default;
GranuleIndexBuilder::~GranuleIndexBuilder() = default;

void GranuleIndexBuilder::StartRow(std::string_view key, uint64_t row_bytes) noexcept {
  internal::Guard(parts_.get(), [&] { parts_->StartRow(key, row_bytes); });
}

void GranuleIndexBuilder::AddValue(size_t column, const Value& value) noexcept {
  assert(parts_->num_rows != 0 || !parts_->status.ok());
  internal::Guard(parts_.get(), [&] {
    if (column >= parts_->columns.size() || parts_->columns[column].type() != value.type()) {
      parts_->status = Status::InvalidArgument("skip index: column " + std::to_string(column) +
                                               " does not exist or cannot take a value of type " +
                                               std::string(ValueTypeName(value.type())));
      return;
    }
    parts_->columns[column].Add(value, parts_->num_file_rows);
  });
}

void GranuleIndexBuilder::MarkAlwaysMatch() noexcept {
  assert(parts_->num_rows != 0 || !parts_->status.ok());
  parts_->always_match = true;
}

void GranuleIndexBuilder::NoteSequence(uint64_t sequence) noexcept {
  assert(parts_->num_rows != 0 || !parts_->status.ok());
  parts_->min_sequence = std::min(parts_->min_sequence, sequence);
}

void GranuleIndexBuilder::LimitGranules(uint64_t rows, uint64_t bytes) noexcept {
  parts_->options.granule_rows = rows;
  parts_->options.granule_bytes = bytes;
}

void GranuleIndexBuilder::CloseGranule() noexcept {
  internal::Guard(parts_.get(), [&] { parts_->CloseGranule(); });
}

uint64_t GranuleIndexBuilder::needed_bytes() const noexcept { return parts_->needed_bytes; }

uint64_t GranuleIndexBuilder::MemoryBytes() const noexcept {
  uint64_t bytes =
      parts_->fences.bytes().capacity() +
      (parts_->granule_rows.capacity() + parts_->min_sequences.capacity()) * sizeof(uint64_t);
  for (const auto& column : parts_->columns) bytes += column.MemoryBytes();
  return bytes;
}

Result<std::string> GranuleIndexBuilder::Finish() noexcept {
  Result<std::string> index = internal::OutOfMemory();
  internal::Guard(parts_.get(), [&] { index = parts_->Finish(); });
  return parts_->status.ok() ? std::move(index) : Result<std::string>(parts_->status);
}

}  // namespace blocksieve
