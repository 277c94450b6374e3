#include "lib/granule/column.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "lib/hash/checksum.h"

namespace blocksieve::internal {

Status GranuleColumn::Open(const ColumnHeader& header, ByteView part, const GranuleSet* always,
                           Kernel kernel) {
  if (Checksum(part) != header.checksum) return DamagedIndex("column checksum mismatch");
  info_ = header;
  kernel_ = kernel;
  always_ = always->IsEmpty() ? nullptr : always;
  const uint64_t num_granules = always->num_granules();
  num_granules_ = num_granules;

  Decoder decoder(part);
  Decoder marks(decoder.Bytes(header.mark_bytes));
  missing_ = PackedInts::Read(num_granules, &marks);
  present_ = PackedInts::Read(num_granules, &marks);
  if (!marks.ok() || !marks.rest().empty() || !missing_.IsBits() || !present_.IsBits()) {
    return DamagedIndex("damaged column marks");
  }

  const ByteView filters = decoder.Bytes(header.filter_bytes);
  if (header.filters == PartState::kPresent && header.form != GranuleFilterForm::kBitSlices) {
    if (!postings_.Open(filters, num_granules)) return DamagedIndex("damaged column postings");
    if (postings_.group_granules() > 1) info_.form = GranuleFilterForm::kGroupedPostings;
    info_.probe_bytes = postings_.probe_bytes();
  } else if (header.filters == PartState::kPresent) {
    if (!filters_.Open(filters, header.classes, header.num_probes, num_granules)) {
      return DamagedIndex("column filters do not match their size classes");
    }
    info_.num_size_classes = static_cast<uint32_t>(header.classes.size());
    info_.max_distinct = header.classes.back().max_values;
    info_.probe_bytes = filters_.probe_bytes();
  } else if (!filters.empty()) {
    return DamagedIndex("column has filters that its header excludes");
  }

  Decoder bounds(decoder.Bytes(header.bounds_bytes));
  if (header.bounds == PartState::kPresent) {
    const ByteView raw = ReadCompressed(&bounds, &bounds_memory_);
    if (!bounds.ok() || !bounds_.Open(raw, header.type, num_granules)) {
      return DamagedIndex("damaged column bounds");
    }
  }
  if (!bounds.rest().empty()) return DamagedIndex("column bounds have trailing bytes");

  return Status::Ok();
}

template <class Prune>
void GranuleColumn::PruneUnlessAlwaysMatch(GranuleSet* candidates, Prune prune) const {
  if (always_ == nullptr) return prune(candidates);
  GranuleSet always_candidates = *candidates;
  always_candidates &= *always_;
  prune(candidates);
  *candidates |= always_candidates;
}

void GranuleColumn::PruneByFilters(std::span<const uint64_t> hashes, GranuleSet* candidates) const {
  if (info_.form == GranuleFilterForm::kBitSlices) {
    filters_.PruneByAny(hashes, candidates, kernel_);
  } else {
    postings_.PruneByAny(hashes, candidates);
  }
}

void GranuleColumn::PruneByHash(uint64_t value_hash, GranuleSet* candidates) const {
  if (info_.filters != PartState::kPresent) return PruneByPresence(candidates);
  PruneUnlessAlwaysMatch(candidates, [&](GranuleSet* kept) {
    PruneByFilters({&value_hash, 1}, kept);
  });
}

bool GranuleColumn::BoundsAreUseless(size_t num_values, const GranuleSet& candidates) const {
  // Postings have hardly any false positives. If they select more granules than there are values,
  // reading the bounds takes longer than reading the false positives.
  return info_.filters == PartState::kPresent && info_.form == GranuleFilterForm::kPostings &&
         candidates.Count() > num_values;
}

void GranuleColumn::PruneByAny(std::span<const Value> values, GranuleSet* candidates) const {
  assert(std::is_sorted(values.begin(), values.end(),
                        [](const Value& a, const Value& b) { return a.Compare(b) < 0; }));
  if (values.size() == 1) return ColumnIndex::PruneByAny(values, candidates);
  const bool has_filters = info_.filters == PartState::kPresent;
  const bool has_bounds = info_.bounds == PartState::kPresent;
  if (!has_filters && !has_bounds && !values.empty()) return PruneByPresence(candidates);
  std::vector<uint64_t> hashes;
  for (const Value& value : values) hashes.push_back(value.Hash());
  PruneUnlessAlwaysMatch(candidates, [&](GranuleSet* kept) {
    if (values.empty()) *kept = GranuleSet::None(kept->num_granules());
    // Filters come first. For ten values they select a tenth of the granules, whose bounds are then
    // compared; for a thousand, nearly all, but in a small part of the time.
    if (has_filters) PruneByFilters(hashes, kept);
    if (!has_bounds || BoundsAreUseless(values.size(), *kept)) return;
    const std::vector<ValueIndexRange> within_bounds = bounds_.PruneByRanges(values, kept);
    // Postings have hardly any false positives.
    if (has_filters && info_.form == GranuleFilterForm::kBitSlices) {
      PruneByFiltersAndBounds(hashes, within_bounds, kept);
    }
  });
}

void GranuleColumn::PruneByFiltersAndBounds(std::span<const uint64_t> hashes,
                                            std::span<const ValueIndexRange> within_bounds,
                                            GranuleSet* candidates) const {
  GranuleSet found = GranuleSet::None(candidates->num_granules());
  GranuleSet undecided = found;
  for (size_t i = 0; i < hashes.size(); ++i) {
    uint64_t any_undecided = 0;
    for (size_t w = 0; w < undecided.words().size(); ++w) {
      undecided.words()[w] = candidates->words()[w] & ~found.words()[w];
      any_undecided |= undecided.words()[w];
    }
    if (any_undecided == 0) break;
    PruneByFilters({&hashes[i], 1}, &undecided);
    for (size_t w = 0; w < undecided.words().size(); ++w) {
      for (uint64_t left = undecided.words()[w]; left != 0; left &= left - 1) {
        const size_t granule = 64 * w + static_cast<size_t>(std::countr_zero(left));
        if (within_bounds[granule].Has(i)) found.Add(granule);
      }
    }
  }
  *candidates = std::move(found);
}

void GranuleColumn::PruneByRange(const ValueRange& range, GranuleSet* candidates) const {
  assert(!range.low || range.low->type() == info_.type);
  assert(!range.high || range.high->type() == info_.type);
  if (info_.bounds != PartState::kPresent) return PruneByPresence(candidates);
  PruneUnlessAlwaysMatch(candidates, [&](GranuleSet* kept) { bounds_.PruneByRange(range, kept); });
}

void GranuleColumn::PruneByInequality(const Value& value, GranuleSet* candidates) const {
  assert(value.type() == info_.type);
  if (info_.bounds != PartState::kPresent) return PruneByPresence(candidates);
  PruneUnlessAlwaysMatch(candidates,
                         [&](GranuleSet* kept) { bounds_.PruneByInequality(value, kept); });
}

void GranuleColumn::PruneByMissing(GranuleSet* candidates) const {
  PruneByMarks(missing_, candidates);
}
void GranuleColumn::PruneByPresence(GranuleSet* candidates) const {
  PruneByMarks(present_, candidates);
}

void GranuleColumn::PruneByMarks(const PackedInts& marks, GranuleSet* candidates) const {
  PruneUnlessAlwaysMatch(candidates, [&](GranuleSet* kept) {
    const std::span<uint64_t> words = kept->words();
    for (size_t w = 0; w < words.size(); ++w) words[w] &= marks.Word(w);
  });
}

}  // namespace blocksieve::internal
