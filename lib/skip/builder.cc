// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <exception>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include "blocksieve/sizing.h"
#include "blocksieve/skip_index.h"
#include "lib/base/coding.h"
#include "lib/base/errors.h"
#include "lib/bits/packed.h"
#include "lib/column/definition.h"
#include "lib/column/values.h"
#include "lib/skip/column_builder.h"
#include "lib/skip/fences.h"
#include "lib/skip/format.h"

namespace blocksieve {
namespace {

using internal::ColumnBuilder;

constexpr size_t kMaxColumns = 256;

constexpr uint64_t kNoSequence = std::numeric_limits<uint64_t>::max();

// SkipIndexOptions::max_index_bytes promises 32 and 1 MiB: one is the finished index itself, and a
// quarter of a MiB is for the objects of columns.
constexpr uint64_t kMemoryPerIndexByte = 31;
constexpr uint64_t kFixedMemory = 768 << 10;

Status CheckOptions(const SkipIndexOptions& options) {
  const ColumnList& columns = options.columns;
  BLOCKSIEVE_RETURN_IF_ERROR(columns.status());
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
  return internal::CheckRange("target_fpr", options.target_fpr, kMinTargetFpr, kMaxTargetFpr);
}

Status GranulesExceed(const SkipIndexOptions& options) {
  return Status::ResourceExhausted("skip index: max_index_bytes is " +
                                   std::to_string(options.max_index_bytes) +
                                   ", less than the keys of the granules alone take; raise it");
}

// Orders columns, or pointers to them, by what `number` returns for each.
template <class Number>
auto By(Number number) {
  return [number](const auto& a, const auto& b) {
    return std::invoke(number, a) < std::invoke(number, b);
  };
}

}  // namespace

struct __attribute__((visibility("hidden"))) SkipIndexBuilder::Impl {
  Impl(const SkipIndexOptions& given, bool keeps_keys)
      : options(given), has_keys(keeps_keys), extractor(given.columns) {
    for (const Column& column : given.columns) columns.emplace_back(column);
    if (options.max_index_bytes < (kMaxMemory - kFixedMemory) / kMemoryPerIndexByte &&
        options.max_index_bytes != 0) {
      max_memory = kMemoryPerIndexByte * options.max_index_bytes + kFixedMemory;
    }
  }

  void StartRow(std::string_view key, uint64_t row_bytes);
  /// The granule of the last row is not plain.
  void MarkLastRow() {
    if (const size_t closed = granule_rows.size(); num_rows != 0) {
      is_plain = false;
    } else if (closed != 0) {
      are_plain.back() &= ~(uint64_t{1} << ((closed - 1) % 64));
    }
  }
  void AddValue(size_t column, const Value& value);
  auto Adder() {
    return [this](size_t column, const Value& value) {
      AddValue(column, value);
      return columns[column].wants_values();
    };
  }
  void CloseGranule();
  void KeepMemory();
  uint64_t Memory() const noexcept {
    uint64_t memory = fences.bytes().capacity() + columns.size() * sizeof(ColumnBuilder) +
                      (granule_rows.capacity() + min_sequences.capacity()) * sizeof(uint64_t);
    for (const ColumnBuilder& column : columns) memory += column.memory_bytes();
    return memory;
  }
  std::string GranulesPart() const;
  bool DropLargestPart();
  Result<FinishedSkipIndex> Finish();

  /// Runs `action` unless an error occurred before, or the builder was moved from. Turns exceptions
  /// into such errors.
  template <class Action>
  static void Guard(Impl* impl, Action action) noexcept {
    if (impl == nullptr || !impl->status.ok()) return;
    try {
      action();
    } catch (const std::exception&) {  // bad_alloc, or length_error from a container
      impl->status = internal::OutOfMemory();
    }
  }

  static constexpr uint64_t kMaxMemory = std::numeric_limits<uint64_t>::max();

  SkipIndexOptions options;
  const bool has_keys;
  uint64_t max_memory = kMaxMemory;
  internal::ColumnSet extractor;
  std::vector<ColumnBuilder> columns;
  Status status;

  // The current granule.
  uint64_t num_rows = 0;
  uint64_t num_bytes = 0;
  bool always_match = false;
  bool is_plain = true;
  uint64_t min_sequence = kNoSequence;
  std::string first_key;
  std::string last_key;

  // The file.
  std::string noted_key;
  bool shares_key = true;  // with the entry before; also without NoteKey
  uint64_t num_file_rows = 0;
  internal::FenceWriter fences;
  std::vector<uint64_t> granule_rows;
  std::vector<uint64_t> min_sequences;
  std::vector<uint64_t> always_matches;  // bits
  std::vector<uint64_t> are_plain;       // bits
  uint64_t needed_bytes = 0;             // size of the index if nothing is dropped
};

void SkipIndexBuilder::Impl::StartRow(std::string_view key, uint64_t row_bytes) {
  const bool full = (options.granule_rows != 0 && num_rows >= options.granule_rows) ||
                    (options.granule_bytes != 0 && num_bytes >= options.granule_bytes);
  if (full) CloseGranule();
  if (shares_key) is_plain = false;
  if (has_keys) {
    if (num_rows == 0) first_key.assign(key);
    last_key.assign(key);
  }
  ++num_rows;
  ++num_file_rows;
  num_bytes += row_bytes;
}

void SkipIndexBuilder::Impl::AddValue(size_t column, const Value& value) {
  if (columns[column].Add(value, num_file_rows)) KeepMemory();
}

void SkipIndexBuilder::Impl::CloseGranule() {
  if (num_rows == 0) return;
  // Columns grow together: each is weighed before it grows.
  uint64_t memory = Memory();
  for (ColumnBuilder& column : columns) {
    if (memory + column.more_bytes() > max_memory) {
      KeepMemory();
      memory = Memory();
    }
    memory -= column.memory_bytes();
    column.CloseGranule(num_rows, always_match && !column.header().is_of_key);
    memory += column.memory_bytes();
  }
  KeepMemory();
  if (has_keys) fences.Add(first_key, last_key);
  internal::AppendBit(always_match, granule_rows.size(), &always_matches);
  internal::AppendBit(is_plain, granule_rows.size(), &are_plain);
  granule_rows.push_back(num_rows);
  min_sequences.push_back(min_sequence == kNoSequence ? 0 : min_sequence);
  num_rows = 0;
  num_bytes = 0;
  always_match = false;
  is_plain = true;
  min_sequence = kNoSequence;
}

/// Drops filters, and then bounds, until what is in memory, and what growing and Finish take in
/// addition, is allowed. Gives up the index if what granules take exceeds it alone.
void SkipIndexBuilder::Impl::KeepMemory() {
  for (;;) {
    const uint64_t most_of_granules =
        std::max(fences.bytes().capacity(), granule_rows.capacity() * sizeof(uint64_t));
    uint64_t more = 2 * most_of_granules;
    for (const ColumnBuilder& column : columns) more = std::max(more, column.more_bytes());
    if (Memory() + more <= max_memory) return;
    const auto most_hashes =
        std::max_element(columns.begin(), columns.end(), By(&ColumnBuilder::num_hashes));
    const auto most_bytes =
        std::max_element(columns.begin(), columns.end(), By(&ColumnBuilder::memory_bytes));
    if (most_hashes->num_hashes() != 0) {
      most_hashes->DropFilters(PartState::kOverMemory);
    } else if (most_bytes->wants_values()) {
      most_bytes->DropBounds(PartState::kOverMemory);
    } else {
      status = GranulesExceed(options);
      static_cast<void>(std::exchange(fences, {}));
      granule_rows = min_sequences = {};
      return;
    }
  }
}

std::string SkipIndexBuilder::Impl::GranulesPart() const {
  std::string part;
  // The last granule is usually short. Its row count follows from that of the file.
  const std::span<const uint64_t> rows(granule_rows);
  internal::PackedInts::Append(rows.empty() ? rows : rows.first(rows.size() - 1), &part);
  internal::PackedInts::Append(min_sequences, &part);
  internal::PackedInts::AppendBits(are_plain, granule_rows.size(), &part);
  if (has_keys) {
    internal::PackedInts::AppendBits(always_matches, granule_rows.size(), &part);
    internal::AppendCompressed(fences.bytes(), &part);
  } else {
    // Not packed: a reader must not believe in more granules than there are bytes for.
    for (size_t byte = 0; byte < (granule_rows.size() + 7) / 8; ++byte) {
      part.push_back(static_cast<char>(always_matches[byte / 8] >> (byte % 8 * 8)));
    }
  }
  return part;
}

/// False if there is nothing left to drop.
bool SkipIndexBuilder::Impl::DropLargestPart() {
  const auto largest = [&](uint64_t internal::ColumnHeader::*bytes) {
    return std::max_element(columns.begin(), columns.end(), By([&](const ColumnBuilder& column) {
                              return column.header().*bytes;
                            }));
  };
  if (const auto filters = largest(&internal::ColumnHeader::filter_bytes);
      filters->header().filter_bytes != 0) {
    filters->DropFilters(PartState::kOverBudget);
    return true;
  }
  const auto bounds = largest(&internal::ColumnHeader::bounds_bytes);
  if (bounds->header().bounds_bytes == 0) return false;
  bounds->DropBounds(PartState::kOverBudget);
  return true;
}

Result<FinishedSkipIndex> SkipIndexBuilder::Impl::Finish() {
  CloseGranule();
  KeepMemory();
  if (!status.ok()) return status;
  const std::string granules = GranulesPart();
  // The smallest first: each column releases its hashes, and the largest takes most memory.
  std::vector<ColumnBuilder*> ascending;
  for (ColumnBuilder& column : columns) ascending.push_back(&column);
  std::stable_sort(ascending.begin(), ascending.end(), By(&ColumnBuilder::num_hashes));
  for (ColumnBuilder* const column : ascending) column->Finish(options.target_fpr);
  internal::SkipIndexHeader header;
  header.has_keys = has_keys;
  header.num_granules = granule_rows.size();
  header.num_rows = num_file_rows;
  header.granules_bytes = granules.size();
  header.granules_checksum = Checksum(AsBytes(granules));
  for (;;) {
    uint64_t parts_bytes = granules.size();
    header.columns.clear();
    for (const ColumnBuilder& column : columns) {
      header.columns.push_back(column.header());
      parts_bytes += column.header().num_bytes();
    }
    // Checksums take the same number of bytes in any case.
    const size_t header_bytes = internal::EncodeSkipIndexHeader(header).size();
    const bool is_known =
        std::none_of(columns.begin(), columns.end(), [](const ColumnBuilder& column) {
          return column.header().filters == PartState::kOverMemory;
        });
    // The first time, nothing has been dropped.
    if (is_known) needed_bytes = std::max(needed_bytes, header_bytes + parts_bytes);
    if (options.max_index_bytes == 0 || header_bytes + parts_bytes <= options.max_index_bytes) {
      FinishedSkipIndex finished;
      finished.bytes.reserve(header_bytes + static_cast<size_t>(parts_bytes));
      finished.bytes.resize(header_bytes);
      finished.bytes += granules;
      for (size_t i = 0; i < columns.size(); ++i) {
        columns[i].Append(&finished.bytes);
        header.columns[i] = columns[i].header();
        finished.columns.push_back(columns[i].header());
      }
      finished.bytes.replace(0, header_bytes, internal::EncodeSkipIndexHeader(header));
      finished.num_granules = header.num_granules;
      finished.num_rows = header.num_rows;
      finished.key_bytes = granules.size();
      return finished;
    }
    if (!DropLargestPart()) {
      return GranulesExceed(options);
    }
  }
}

SkipIndexBuilder::SkipIndexBuilder(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
SkipIndexBuilder::SkipIndexBuilder(SkipIndexBuilder&&) noexcept = default;
SkipIndexBuilder& SkipIndexBuilder::operator=(SkipIndexBuilder&&) noexcept = default;
SkipIndexBuilder::~SkipIndexBuilder() = default;

Result<SkipIndexBuilder> SkipIndexBuilder::Create(const SkipIndexOptions& options,
                                                  bool has_keys) try {
  BLOCKSIEVE_RETURN_IF_ERROR(CheckOptions(options));
  return SkipIndexBuilder(std::make_unique<Impl>(options, has_keys));
}
BLOCKSIEVE_CATCH_BAD_ALLOC

void SkipIndexBuilder::NoteKey(std::string_view key) noexcept {
  Impl::Guard(impl_.get(), [&] {
    impl_->shares_key = key == impl_->noted_key;
    if (impl_->shares_key) impl_->MarkLastRow();
    impl_->noted_key.assign(key);
  });
}

void SkipIndexBuilder::AddRow(std::string_view key, std::string_view row,
                              uint64_t row_bytes) noexcept {
  Impl::Guard(impl_.get(), [&] {
    impl_->StartRow(key, row_bytes);
    impl_->extractor.ForEachIndexed({key, row}, impl_->Adder());
  });
}

void SkipIndexBuilder::AddEmptyRow(std::string_view key, uint64_t row_bytes) noexcept {
  Impl::Guard(impl_.get(), [&] {
    impl_->StartRow(key, row_bytes);
    impl_->is_plain = false;
    impl_->extractor.ForEachOfKey(key, impl_->Adder());
  });
}

void SkipIndexBuilder::AddAlwaysMatchingRow(std::string_view key, uint64_t row_bytes) noexcept {
  Impl::Guard(impl_.get(), [&] {
    impl_->StartRow(key, row_bytes);
    impl_->always_match = true;
    impl_->is_plain = false;
    impl_->extractor.ForEachOfKey(key, impl_->Adder());
  });
}

void SkipIndexBuilder::AddValue(size_t column, const Value& value) noexcept {
  Impl::Guard(impl_.get(), [&] {
    if (impl_->num_rows != 0 && column < impl_->columns.size() &&
        impl_->columns[column].type() == value.type()) {
      return impl_->AddValue(column, value);
    }
    impl_->status = Status::InvalidArgument("skip index: column " + std::to_string(column) +
                                            " does not exist or cannot take a value of type " +
                                            std::string(ValueTypeName(value.type())));
  });
}

void SkipIndexBuilder::NoteSequence(uint64_t sequence) noexcept {
  Impl::Guard(impl_.get(), [&] { impl_->min_sequence = std::min(impl_->min_sequence, sequence); });
}

void SkipIndexBuilder::LimitGranules(uint64_t rows, uint64_t bytes) noexcept {
  Impl::Guard(impl_.get(), [&] {
    impl_->options.granule_rows = rows;
    impl_->options.granule_bytes = bytes;
  });
}

void SkipIndexBuilder::CloseGranule() noexcept {
  Impl::Guard(impl_.get(), [&] { impl_->CloseGranule(); });
}

Result<FinishedSkipIndex> SkipIndexBuilder::Finish() noexcept {
  // Texts that take no allocation.
  if (impl_ == nullptr) return Status::InvalidArgument("moved from");
  Result<FinishedSkipIndex> finished = internal::OutOfMemory();
  Impl::Guard(impl_.get(), [&] { finished = impl_->Finish(); });
  Status used = Status::InvalidArgument("finished twice");
  if (!impl_->status.ok()) return std::exchange(impl_->status, std::move(used));
  impl_->status = std::move(used);
  return finished;
}

uint64_t SkipIndexBuilder::needed_bytes() const noexcept {
  return impl_ == nullptr ? 0 : impl_->needed_bytes;
}

}  // namespace blocksieve
