// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/skip_index.h"

#include <algorithm>
#include <cassert>
#include <exception>
#include <tuple>
#include <utility>

#include "lib/base/coding.h"
#include "lib/base/errors.h"
#include "lib/bits/packed.h"
#include "lib/skip/column_index.h"
#include "lib/skip/fences.h"
#include "lib/skip/format.h"
#include "lib/skip/granule_pruner.h"

namespace blocksieve {
namespace internal {

Status ColumnIndex::Open(const ColumnHeader& header, ByteView part, const GranuleSet* always) {
  if (Checksum(part) != header.checksum) return DamagedIndex("column checksum mismatch");
  info_ = header;
  always_ = always->IsEmpty() ? nullptr : always;
  num_granules_ = always->num_granules();

  Decoder decoder(part);
  Decoder marks(decoder.Bytes(header.mark_bytes));
  missing_ = PackedInts::Read(num_granules_, &marks);
  present_ = PackedInts::Read(num_granules_, &marks);
  if (!marks.ok() || !marks.rest().empty() || !missing_.IsBits() || !present_.IsBits()) {
    return DamagedIndex("damaged column marks");
  }

  const ByteView filters = decoder.Bytes(header.filter_bytes);
  if (has_filters()) {
    if (!postings_.Open(filters, num_granules_)) return DamagedIndex("damaged column filters");
    info_.is_grouped = postings_.group_granules() > 1;
    info_.probe_bytes = postings_.probe_bytes();
  } else if (!filters.empty()) {
    return DamagedIndex("column has filters that its header excludes");
  }

  Decoder bounds(decoder.Bytes(header.bounds_bytes));
  if (has_bounds()) {
    const ByteView raw = ReadCompressed(&bounds, &bounds_memory_);
    if (!bounds.ok() || !bounds_.Open(raw, header.type, num_granules_)) {
      return DamagedIndex("damaged column bounds");
    }
  }
  if (!bounds.rest().empty()) return DamagedIndex("column bounds have trailing bytes");
  return Status::Ok();
}

ColumnDigest ColumnIndex::Digest() const {
  constexpr uint32_t kMaxCheckBits = 6;  // each further one halves what the index is asked
  ColumnDigest digest{.index = this};
  if (always_ != nullptr) return digest;
  if (has_bounds()) std::tie(digest.low, digest.high) = bounds_.Heads(num_granules_);
  if (const Retrieval* const map = has_filters() ? postings_.map_of_all() : nullptr) {
    digest.map = *map;
    digest.check_bits = std::min(postings_.check_bits(), kMaxCheckBits);
  }
  return digest;
}

uint8_t ColumnIndex::parts() const noexcept {
  return static_cast<uint8_t>(kMarkPart | (has_filters() ? kFilterPart : 0) |
                              (has_bounds() ? kBoundsPart : 0));
}

std::vector<GranuleBounds> ColumnIndex::Bounds() const {
  return has_bounds() ? bounds_.All(num_granules_) : std::vector<GranuleBounds>();
}

uint64_t ColumnIndex::CountBytes(const PruningStep& step) const noexcept {
  switch (step.by) {
    case PruneBy::kHash:
      return info_.probe_bytes;
    case PruneBy::kAny:
      return step.values.size() * info_.probe_bytes + info_.bounds_bytes;
    case PruneBy::kRange:
    case PruneBy::kDiffers:
      return info_.bounds_bytes;
    default:
      return info_.mark_bytes;
  }
}

void ColumnIndex::Prune(const PruningStep& step, GranuleSet* candidates,
                        ColumnExplanation* explanation) const {
  if (explanation != nullptr) {
    if (explanation->num_probes++ == 0) explanation->filters.emplace(FiltersName(info_));
    explanation->index_bytes += CountBytes(step);
  }
  if (always_ == nullptr) return PruneOthers(step, candidates);
  GranuleSet others = *candidates;
  PruneOthers(step, &others);
  const std::span<uint64_t> words = candidates->words();
  for (size_t w = 0; w < words.size(); ++w) {
    words[w] = (words[w] & always_->words()[w]) | others.words()[w];
  }
}

void ColumnIndex::PruneOthers(const PruningStep& step, GranuleSet* candidates) const {
  // Without the part that it needs, a comparison still requires a value.
  if (step.by == PruneBy::kMissing) {
    PruneByMarks(missing_, candidates);
  } else if (step.by == PruneBy::kHash && has_filters()) {
    postings_.PruneByAny({&step.hash, 1}, candidates);
  } else if (step.by == PruneBy::kAny && (has_filters() || has_bounds() || step.values.empty())) {
    PruneByAny(step, candidates);
  } else if (step.by == PruneBy::kRange && has_bounds()) {
    bounds_.PruneByRange(step.range, candidates);
  } else if (step.by == PruneBy::kDiffers && has_bounds()) {
    bounds_.PruneByOthers(step.values, candidates);
  } else {
    PruneByMarks(present_, candidates);
  }
}

void ColumnIndex::PruneByAny(const PruningStep& step, GranuleSet* candidates) const {
  const std::span<const Value> values = step.values;
  assert(step.hashes.size() == values.size());
  assert(std::is_sorted(values.begin(), values.end(),
                        [](const Value& a, const Value& b) { return a.Compare(b) < 0; }));
  if (values.empty()) {
    *candidates = GranuleSet::None(candidates->num_granules());
    return;
  }
  // Filters come first. For ten values they select a tenth of the granules, whose bounds are then
  // compared; for a thousand, nearly all, but in a small part of the time.
  if (has_filters()) {
    postings_.PruneByAny(step.hashes, candidates);
    // Ungrouped postings have few false positives. If they select more granules than there are
    // values, reading the bounds takes longer than reading the false positives.
    if (values.size() > 1 && !info_.is_grouped && candidates->Count() > values.size()) return;
  }
  if (has_bounds()) bounds_.PruneByValues(values, candidates);
}

void ColumnIndex::PruneByMarks(const PackedInts& marks, GranuleSet* candidates) const {
  const std::span<uint64_t> words = candidates->words();
  for (size_t w = 0; w < words.size(); ++w) words[w] &= marks.Word(w);
}

}  // namespace internal

struct __attribute__((visibility("hidden"))) SkipIndex::Impl {
  std::string owned;  // the bytes, unless the index is a view
  internal::SkipIndexHeader header;
  uint64_t num_bytes = 0;
  internal::PackedInts rows;  // per granule, except the last
  uint64_t last_rows = 0;
  internal::PackedInts min_sequences;
  internal::PackedInts are_plain;  // bits
  GranuleSet always = GranuleSet::None(0);
  GranuleSet never = GranuleSet::None(0);  // of all granules: keys are always known
  std::vector<uint8_t> fence_memory;
  internal::FenceReader fences;
  std::vector<std::unique_ptr<internal::ColumnIndex>> columns;

  /// Opens the parts that `header` lists, which are all of `parts`.
  Status Open(ByteView parts);
  Status OpenGranules(ByteView part);
  bool ReadRows(Decoder* from);
  bool ReadAlways(Decoder* from);
};

bool SkipIndex::Impl::ReadRows(Decoder* from) {
  if (header.num_granules == 0 && header.num_rows != 0) return false;
  const uint64_t others = header.num_granules == 0 ? 0 : header.num_granules - 1;
  rows = internal::PackedInts::Read(others, from);
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

/// Also reads the keys: what confirms num_granules, so that memory may then depend on it.
bool SkipIndex::Impl::ReadAlways(Decoder* from) {
  const uint64_t num_granules = header.num_granules;
  if (!header.has_keys) {
    const ByteView bits = from->Bytes(num_granules / 8 + (num_granules % 8 != 0));
    if (!from->ok()) return false;
    always = GranuleSet::None(static_cast<size_t>(num_granules));
    for (size_t granule = 0; granule < always.num_granules(); ++granule) {
      if ((bits[granule / 8] >> (granule % 8) & 1) != 0) always.Add(granule);
    }
    return true;
  }
  const internal::PackedInts bits = internal::PackedInts::Read(num_granules, from);
  const ByteView keys = internal::ReadCompressed(from, &fence_memory);
  if (!from->ok() || !bits.IsBits() || !fences.Open(keys, num_granules)) return false;
  always = GranuleSet::All(static_cast<size_t>(num_granules));
  for (size_t w = 0; w < always.words().size(); ++w) always.words()[w] &= bits.Word(w);
  return true;
}

Status SkipIndex::Impl::OpenGranules(ByteView part) {
  if (Checksum(part) != header.granules_checksum) {
    return internal::DamagedIndex("granules checksum mismatch");
  }
  Decoder decoder(part);
  if (!ReadRows(&decoder)) {
    return internal::DamagedIndex("row counts of the granules do not match that of the file");
  }
  min_sequences = internal::PackedInts::Read(header.num_granules, &decoder);
  are_plain = internal::PackedInts::Read(header.num_granules, &decoder);
  if (!decoder.ok() || !are_plain.IsBits() || !ReadAlways(&decoder) || !decoder.rest().empty()) {
    return internal::DamagedIndex("damaged granules");
  }
  return Status::Ok();
}

Status SkipIndex::Impl::Open(ByteView parts) {
  Decoder decoder(parts);
  BLOCKSIEVE_RETURN_IF_ERROR(OpenGranules(decoder.Bytes(header.granules_bytes)));
  never = GranuleSet::None(always.num_granules());
  for (const internal::ColumnHeader& column : header.columns) {
    columns.push_back(std::make_unique<internal::ColumnIndex>());
    BLOCKSIEVE_RETURN_IF_ERROR(columns.back()->Open(column, decoder.Bytes(column.num_bytes()),
                                                    column.is_of_key ? &never : &always));
  }
  return Status::Ok();
}

namespace {

// Enough for the header of a few columns.
constexpr uint64_t kUsualHeaderBytes = 4096;

/// Appends `num_bytes` of the source from `offset` on.
Status AppendFrom(SkipIndexSource* source, uint64_t offset, uint64_t num_bytes, std::string* out) {
  const size_t begin = out->size();
  out->resize(begin + static_cast<size_t>(num_bytes));
  auto* const room = reinterpret_cast<uint8_t*>(out->data()) + begin;
  return num_bytes == 0 ? Status::Ok() : source->Read(offset, {room, out->size() - begin});
}

/// Reads the start of the index, with the whole header unless the index is truncated.
Result<internal::SkipIndexHeader> ReadHeader(SkipIndexSource* source, size_t* header_bytes) {
  const uint64_t all = source->num_bytes();
  std::string start;
  BLOCKSIEVE_RETURN_IF_ERROR(AppendFrom(source, 0, std::min(all, kUsualHeaderBytes), &start));
  if (start.size() >= internal::kSkipIndexStartBytes) {
    const uint64_t header = std::min(all, internal::SkipIndexHeaderBytes(AsBytes(start)));
    if (header > start.size()) {
      BLOCKSIEVE_RETURN_IF_ERROR(AppendFrom(source, start.size(), header - start.size(), &start));
    }
  }
  return internal::DecodeSkipIndexHeader(AsBytes(start), all, header_bytes);
}

}  // namespace

// Besides bad_alloc, containers throw length_error, for lengths in damaged indexes.

Result<SkipIndex> SkipIndex::Open(ByteView bytes) try {
  auto parts = std::make_shared<Impl>();
  size_t header_bytes = 0;
  BLOCKSIEVE_ASSIGN_OR_RETURN(parts->header,
                              internal::DecodeSkipIndexHeader(bytes, bytes.size(), &header_bytes));
  parts->num_bytes = bytes.size();
  BLOCKSIEVE_RETURN_IF_ERROR(parts->Open(bytes.subspan(header_bytes)));
  return SkipIndex(std::move(parts));
} catch (const std::exception&) {
  return internal::OutOfMemory();
}

Result<SkipIndex> SkipIndex::Read(SkipIndexSource* source,
                                  std::optional<std::span<const Column>> columns) try {
  auto parts = std::make_shared<Impl>();
  size_t header_bytes = 0;
  BLOCKSIEVE_ASSIGN_OR_RETURN(internal::SkipIndexHeader stored, ReadHeader(source, &header_bytes));
  uint64_t offset = header_bytes;
  BLOCKSIEVE_RETURN_IF_ERROR(AppendFrom(source, offset, stored.granules_bytes, &parts->owned));
  offset += stored.granules_bytes;
  for (internal::ColumnHeader& column : std::exchange(stored.columns, {})) {
    const uint64_t num_bytes = column.num_bytes();
    const auto has_key = [&](const Column& wanted) { return wanted.key() == column.key; };
    if (!columns || std::any_of(columns->begin(), columns->end(), has_key)) {
      BLOCKSIEVE_RETURN_IF_ERROR(AppendFrom(source, offset, num_bytes, &parts->owned));
      stored.columns.push_back(std::move(column));
    }
    offset += num_bytes;
  }
  parts->header = std::move(stored);
  parts->num_bytes = header_bytes + parts->owned.size();
  BLOCKSIEVE_RETURN_IF_ERROR(parts->Open(AsBytes(parts->owned)));
  return SkipIndex(std::move(parts));
} catch (const std::exception&) {
  return internal::OutOfMemory();
}

SkipIndex::SkipIndex(std::shared_ptr<const Impl> parts) noexcept : impl_(std::move(parts)) {}
SkipIndex::SkipIndex(SkipIndex&& other) noexcept {
  static const Impl kNothing{};
  // Owns nothing, and so allocates nothing.
  impl_ = std::shared_ptr<const Impl>(std::shared_ptr<const Impl>(), &kNothing);
  impl_.swap(other.impl_);
}
SkipIndex& SkipIndex::operator=(SkipIndex&& other) noexcept {
  SkipIndex moved(std::move(other));
  impl_.swap(moved.impl_);
  return *this;
}
SkipIndex::~SkipIndex() = default;

size_t SkipIndex::num_granules() const noexcept {
  return static_cast<size_t>(impl_->header.num_granules);
}
uint64_t SkipIndex::num_rows() const noexcept { return impl_->header.num_rows; }

bool SkipIndex::AlwaysMatches(size_t granule) const noexcept { return impl_->always.Has(granule); }

uint64_t SkipIndex::NumRows(size_t granule) const noexcept {
  if (granule >= num_granules()) return 0;
  return granule + 1 == num_granules() ? impl_->last_rows : impl_->rows[granule];
}

uint64_t SkipIndex::MinSequence(size_t granule) const noexcept {
  return granule < num_granules() ? impl_->min_sequences[granule] : 0;
}

bool SkipIndex::IsPlain(size_t granule) const noexcept {
  return granule < num_granules() && impl_->are_plain[granule] != 0;
}

bool SkipIndex::has_keys() const noexcept { return impl_->header.has_keys; }

void SkipIndex::GetKeyRange(size_t granule, std::string* first, std::string* last) const {
  if (has_keys() && granule < num_granules()) impl_->fences.Get(granule, first, last);
}

bool SkipIndex::CanPrune(const Predicate& predicate, PruneColumns by) const {
  return internal::GranulePruner(predicate, FindAll(predicate, by)).CanPrune();
}

GranuleSet SkipIndex::Candidates(const Predicate& predicate, PruneColumns by) const {
  return internal::GranulePruner(predicate, FindAll(predicate, by)).Candidates(num_granules());
}

std::vector<GranuleBounds> SkipIndex::Bounds(const Column& column) const {
  const internal::ColumnIndex* const index = Find(column);
  return index == nullptr ? std::vector<GranuleBounds>() : index->Bounds();
}

std::vector<IndexColumnInfo> SkipIndex::columns() const {
  std::vector<IndexColumnInfo> infos;
  for (const auto& column : impl_->columns) infos.push_back(column->info());
  return infos;
}

uint64_t SkipIndex::index_bytes() const noexcept { return impl_->num_bytes; }
uint64_t SkipIndex::key_bytes() const noexcept { return impl_->header.granules_bytes; }

uint64_t SkipIndex::memory_bytes() const noexcept {
  uint64_t bytes = sizeof(*impl_) + impl_->owned.capacity() + impl_->fence_memory.capacity() +
                   impl_->fences.memory_bytes() + 2 * impl_->always.words().size_bytes();
  for (const auto& column : impl_->columns) bytes += sizeof(*column) + column->memory_bytes();
  return bytes;
}

const internal::ColumnIndex* SkipIndex::Find(const Column& column) const noexcept {
  const internal::ColumnIndex* found = nullptr;
  for (const auto& index : impl_->columns) {
    if (index->info().key != column.key()) continue;
    // Another name of the same values may have other parts.
    const std::string_view definition = index->info().definition;
    const size_t name_bytes = column.name().size();
    if (definition.starts_with(column.name()) && definition.substr(name_bytes).starts_with('=')) {
      return index.get();
    }
    if (found == nullptr) found = index.get();
  }
  return found;
}

// A comparison without an index may be true and false, which makes of the others the strongest
// condition that the predicate implies: AND keeps what is left of its operands, OR keeps nothing
// unless all are left, NOT asks where its operand can be false.
internal::ColumnIndexes SkipIndex::FindAll(const Predicate& predicate, PruneColumns by) const {
  internal::ColumnIndexes indexes;
  for (const Column& column : predicate.columns()) {
    const bool is_used = by == PruneColumns::kAll || column.is_of_key();
    indexes.push_back(is_used ? Find(column) : nullptr);
  }
  return indexes;
}

std::string_view PartStateName(PartState part) noexcept {
  constexpr std::string_view kNames[] = {
      "present",     "not wanted",  "bounds suffice", "would prune nothing",
      "over budget", "over memory", "hash collisions"};
  return part <= PartState::kCollisions ? kNames[static_cast<size_t>(part)] : "unknown";
}

std::string_view FiltersName(const IndexColumnInfo& column) noexcept {
  if (column.filters != PartState::kPresent) return PartStateName(column.filters);
  return column.is_grouped ? "grouped postings" : "postings";
}

std::string_view FiltersReason(std::string_view filters) noexcept {
  if (filters == "postings") return "exact for values that occur";
  if (filters == "grouped postings") return "nearly every row has a value of its own";
  return {};
}

}  // namespace blocksieve
