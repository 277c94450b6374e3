// SPDX-License-Identifier: Apache-2.0
#include "lib/skip/column_index.h"

#include <cassert>
#include <tuple>

#include "lib/base/coding.h"
#include "lib/base/errors.h"

namespace blocksieve::internal {

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

}  // namespace blocksieve::internal
