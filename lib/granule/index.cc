#include "lib/granule/granule_index.h"

#include <cassert>
#include <exception>
#include <utility>

#include "lib/base/errors.h"
#include "lib/base/kernels.h"
#include "lib/bits/packed.h"
#include "lib/granule/column.h"
#include "lib/granule/fences.h"
#include "lib/granule/format.h"
#include "lib/hash/checksum.h"

namespace blocksieve {
namespace internal {

struct FilterForm {
  std::string_view name;
  std::string_view reason;
};

// By GranuleFilterForm.
constexpr FilterForm kFilterForms[] = {
    {"bit slices", "smaller than postings, or written by a version without postings"},
    {"postings", "exact for values that occur, and smaller than bit slices"},
    {"grouped postings", "nearly every row has a value of its own"}};

struct GranuleIndexParts {
  ByteView bytes;
  GranuleIndexHeader header;
  PackedInts rows;  // per granule, except the last
  uint64_t last_rows = 0;
  PackedInts min_sequences;
  GranuleSet always = GranuleSet::None(0);
  std::vector<uint8_t> fence_memory;
  FenceReader fences;
  std::vector<std::unique_ptr<GranuleColumn>> columns;

  Status Open(ByteView index, Kernel kernel);
  Status OpenGranules(ByteView part);
  bool ReadRows(Decoder* from);
};

bool GranuleIndexParts::ReadRows(Decoder* from) {
  if (header.num_granules == 0 && header.num_rows != 0) return false;
  const uint64_t others = header.num_granules == 0 ? 0 : header.num_granules - 1;
  rows = PackedInts::Read(others, from);
  uint64_t sum = 0;
  // If all counts are equal, they take no bits, and num_granules is unconfirmed until the keys.
  if (rows.IsConstant()) {
    const auto product = static_cast<unsigned __int128>(others) * (others == 0 ? 0 : rows[0]);
    if (product > header.num_rows) return false;
    sum = static_cast<uint64_t>(product);
  }
  for (uint64_t granule = 0; !rows.IsConstant() && granule < others; ++granule) {
    sum += rows[granule];
    if (sum > header.num_rows || sum < rows[granule]) return false;
  }
  last_rows = header.num_rows - sum;
  return true;
}

Status GranuleIndexParts::OpenGranules(ByteView part) {
  if (Checksum(part) != header.granules.checksum) {
    return DamagedIndex("granules checksum mismatch");
  }
  Decoder decoder(part);
  if (!ReadRows(&decoder))
    return DamagedIndex("row counts of the granules do not match that of the file");
  min_sequences = PackedInts::Read(header.num_granules, &decoder);
  const PackedInts always_bits = PackedInts::Read(header.num_granules, &decoder);
  const ByteView keys = ReadCompressed(&decoder, &fence_memory);
  if (!decoder.ok() || !decoder.rest().empty() || !always_bits.IsBits() ||
      !fences.Open(keys, header.num_granules)) {
    return DamagedIndex("damaged granules");
  }
  // The keys have confirmed num_granules, so memory may now depend on it.
  always = GranuleSet::All(static_cast<size_t>(header.num_granules));
  for (size_t w = 0; w < always.words().size(); ++w) always.words()[w] &= always_bits.Word(w);
  return Status::Ok();
}

Status GranuleIndexParts::Open(ByteView index, Kernel kernel) {
  bytes = index;
  size_t header_bytes = 0;
  Result<GranuleIndexHeader> decoded = DecodeGranuleIndexHeader(index, &header_bytes);
  if (!decoded.ok()) return decoded.status();
  header = *std::move(decoded);

  Decoder parts(index.subspan(header_bytes));
  if (Status status = OpenGranules(parts.Bytes(header.granules.num_bytes)); !status.ok()) {
    return status;
  }
  for (const ColumnHeader& column : header.columns) {
    columns.push_back(std::make_unique<GranuleColumn>());
    const ByteView part = parts.Bytes(column.num_bytes());
    if (Status status = columns.back()->Open(column, part, &always, kernel); !status.ok()) {
      return status;
    }
  }
  return Status::Ok();
}

}  // namespace internal

std::string_view PartStateName(PartState part) noexcept {
  constexpr std::string_view kNames[] = {"present", "not wanted", "every value in every granule",
                                         "over budget"};
  return part <= PartState::kOverBudget ? kNames[static_cast<size_t>(part)] : "unknown";
}

std::string_view GranuleFiltersName(const GranuleColumnInfo& column) noexcept {
  if (column.filters != PartState::kPresent) return PartStateName(column.filters);
  return internal::kFilterForms[static_cast<size_t>(column.form)].name;
}

std::string_view GranuleFiltersReason(std::string_view filters) noexcept {
  for (const internal::FilterForm& form : internal::kFilterForms) {
    if (form.name == filters) return form.reason;
  }
  return {};
}

Result<GranuleIndex> GranuleIndex::Open(ByteView bytes, Kernel kernel) {
  assert(internal::IsAvailable(kernel));
  try {
    auto parts = std::make_unique<internal::GranuleIndexParts>();
    if (Status status = parts->Open(bytes, kernel); !status.ok()) return status;
    return GranuleIndex(std::move(parts));
  } catch (const std::exception&) {  // bad_alloc, or length_error from a container
    return internal::OutOfMemory();
  }
}

GranuleIndex::GranuleIndex(std::unique_ptr<internal::GranuleIndexParts> parts) noexcept
    : parts_(std::move(parts)) {}
GranuleIndex::GranuleIndex(GranuleIndex&&) noexcept = default;
GranuleIndex& GranuleIndex::operator=(GranuleIndex&&) noexcept = default;
GranuleIndex::~GranuleIndex() = default;

uint64_t GranuleIndex::num_granules() const noexcept { return parts_->header.num_granules; }
uint64_t GranuleIndex::num_rows() const noexcept { return parts_->header.num_rows; }

bool GranuleIndex::AlwaysMatches(size_t granule) const noexcept {
  assert(granule < num_granules());
  return parts_->always.Has(granule);
}

uint64_t GranuleIndex::NumRows(size_t granule) const noexcept {
  assert(granule < num_granules());
  return granule + 1 == num_granules() ? parts_->last_rows : parts_->rows[granule];
}
uint64_t GranuleIndex::MinSequence(size_t granule) const noexcept {
  assert(granule < num_granules());
  return parts_->min_sequences[granule];
}

void GranuleIndex::GetKeyRange(size_t granule, std::string* first, std::string* last) const {
  assert(granule < num_granules());
  parts_->fences.Get(granule, first, last);
}

size_t GranuleIndex::num_columns() const noexcept { return parts_->columns.size(); }
const GranuleColumnInfo& GranuleIndex::column(size_t column) const noexcept {
  assert(column < num_columns());
  return parts_->columns[column]->info();
}
const ColumnIndex& GranuleIndex::column_index(size_t column) const noexcept {
  assert(column < num_columns());
  return *parts_->columns[column];
}

uint64_t GranuleIndex::index_bytes() const noexcept { return parts_->bytes.size(); }
uint64_t GranuleIndex::key_bytes() const noexcept { return parts_->header.granules.num_bytes; }

uint64_t GranuleIndex::memory_bytes() const noexcept {
  uint64_t bytes = sizeof(*parts_) + parts_->fence_memory.capacity() +
                   parts_->fences.memory_bytes() + parts_->always.words().size_bytes();
  for (const auto& column : parts_->columns) bytes += sizeof(*column) + column->memory_bytes();
  return bytes;
}

}  // namespace blocksieve
