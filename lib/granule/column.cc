#include "lib/granule/column.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "lib/hash/checksum.h"

namespace blocksieve::internal {

Status GranuleColumn::Open(const ColumnHeader& header, ByteView part, const GranuleSet* always,
                           Kernel kernel) {
  if (Checksum(part) != header.checksum)
    return DamagedIndex("the checksum of a column does not match");
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
    return DamagedIndex("damaged marks of a column");
  }

  const ByteView filters = decoder.Bytes(header.filter_bytes);
  if (header.filters == GranulePart::kPresent && header.form != GranuleFilterForm::kBitSlices) {
    if (!postings_.Open(filters, num_granules)) return DamagedIndex("damaged postings of a column");
    if (postings_.group_granules() > 1) info_.form = GranuleFilterForm::kGroupedPostings;
    info_.probe_bytes = postings_.probe_bytes();
  } else if (header.filters == GranulePart::kPresent) {
    if (!filters_.Open(filters, header.classes, header.num_probes, num_granules)) {
      return DamagedIndex("filters do not fit their size classes");
    }
    info_.num_size_classes = static_cast<uint32_t>(header.classes.size());
    info_.max_distinct = header.classes.back().max_values;
    info_.probe_bytes = filters_.probe_bytes();
  } else if (!filters.empty()) {
    return DamagedIndex("filters of a column that should have none");
  }

  Decoder bounds(decoder.Bytes(header.bounds_bytes));
  if (header.bounds == GranulePart::kPresent) {
    const ByteView raw = ReadCompressed(&bounds, &bounds_memory_);
    if (!bounds.ok() || !bounds_.Open(raw, header.type, num_granules)) {
      return DamagedIndex("damaged bounds of a column");
    }
  }
  if (!bounds.rest().empty()) return DamagedIndex("extra bytes after the bounds of a column");

  return Status::Ok();
}

template <class Keep>
void GranuleColumn::KeepUnlessAlways(GranuleSet* candidates, Keep keep) const {
  if (always_ == nullptr) return keep(candidates);
  GranuleSet always_candidates = *candidates;
  always_candidates &= *always_;
  keep(candidates);
  *candidates |= always_candidates;
}

void GranuleColumn::KeepInFilters(std::span<const uint64_t> hashes, GranuleSet* candidates) const {
  if (info_.form == GranuleFilterForm::kBitSlices) {
    filters_.KeepContainingAny(hashes, candidates, kernel_);
  } else {
    postings_.KeepContainingAny(hashes, candidates);
  }
}

void GranuleColumn::KeepContaining(uint64_t value_hash, GranuleSet* candidates) const {
  if (info_.filters != GranulePart::kPresent) return KeepPresent(candidates);
  KeepUnlessAlways(candidates, [&](GranuleSet* kept) { KeepInFilters({&value_hash, 1}, kept); });
}

bool GranuleColumn::BoundsAreIdle(size_t num_values, const GranuleSet& candidates) const {
  // Postings hardly name a granule in vain. Where more are left than there are values, it would
  // take longer to read their bounds than to read those granules.
  return info_.filters == GranulePart::kPresent && info_.form == GranuleFilterForm::kPostings &&
         candidates.Count() > num_values;
}

void GranuleColumn::KeepContainingAny(std::span<const Value> values, GranuleSet* candidates) const {
  assert(std::is_sorted(values.begin(), values.end(),
                        [](const Value& a, const Value& b) { return a.Compare(b) < 0; }));
  if (values.size() == 1) return ColumnIndex::KeepContainingAny(values, candidates);
  const bool has_filters = info_.filters == GranulePart::kPresent;
  const bool has_bounds = info_.bounds == GranulePart::kPresent;
  if (!has_filters && !has_bounds && !values.empty()) return KeepPresent(candidates);
  std::vector<uint64_t> hashes;
  for (const Value& value : values) hashes.push_back(value.Hash());
  KeepUnlessAlways(candidates, [&](GranuleSet* kept) {
    if (values.empty()) *kept = GranuleSet::None(kept->num_granules());
    // Filters come first. With ten values they leave a tenth of the granules to compare with
    // bounds; with a thousand they leave nearly all, but take a small part of the time.
    if (has_filters) KeepInFilters(hashes, kept);
    if (!has_bounds || BoundsAreIdle(values.size(), *kept)) return;
    const std::vector<ValueRun> within_bounds = bounds_.KeepOverlappingAny(values, kept);
    // Postings hardly name a granule for a value that it does not have.
    if (has_filters && info_.form == GranuleFilterForm::kBitSlices) {
      KeepInBoth(hashes, within_bounds, kept);
    }
  });
}

void GranuleColumn::KeepInBoth(std::span<const uint64_t> hashes,
                               std::span<const ValueRun> within_bounds,
                               GranuleSet* candidates) const {
  GranuleSet found = GranuleSet::None(candidates->num_granules());
  GranuleSet open = found;
  for (size_t i = 0; i < hashes.size(); ++i) {
    uint64_t any_open = 0;
    for (size_t w = 0; w < open.words().size(); ++w) {
      open.words()[w] = candidates->words()[w] & ~found.words()[w];
      any_open |= open.words()[w];
    }
    if (any_open == 0) break;
    KeepInFilters({&hashes[i], 1}, &open);
    for (size_t w = 0; w < open.words().size(); ++w) {
      for (uint64_t left = open.words()[w]; left != 0; left &= left - 1) {
        const size_t granule = 64 * w + static_cast<size_t>(std::countr_zero(left));
        if (within_bounds[granule].Has(i)) found.Add(granule);
      }
    }
  }
  *candidates = std::move(found);
}

void GranuleColumn::KeepOverlapping(const ValueRange& range, GranuleSet* candidates) const {
  assert(!range.low || range.low->type() == info_.type);
  assert(!range.high || range.high->type() == info_.type);
  if (info_.bounds != GranulePart::kPresent) return KeepPresent(candidates);
  KeepUnlessAlways(candidates, [&](GranuleSet* kept) { bounds_.KeepOverlapping(range, kept); });
}

void GranuleColumn::KeepDiffering(const Value& value, GranuleSet* candidates) const {
  assert(value.type() == info_.type);
  if (info_.bounds != GranulePart::kPresent) return KeepPresent(candidates);
  KeepUnlessAlways(candidates, [&](GranuleSet* kept) { bounds_.KeepDiffering(value, kept); });
}

void GranuleColumn::KeepMissing(GranuleSet* candidates) const { KeepMarked(missing_, candidates); }
void GranuleColumn::KeepPresent(GranuleSet* candidates) const { KeepMarked(present_, candidates); }

void GranuleColumn::KeepMarked(const PackedInts& marks, GranuleSet* candidates) const {
  KeepUnlessAlways(candidates, [&](GranuleSet* kept) {
    const std::span<uint64_t> words = kept->words();
    for (size_t w = 0; w < words.size(); ++w) words[w] &= marks.Word(w);
  });
}

}  // namespace blocksieve::internal
