#include "lib/granule/column.h"

#include "lib/granule/compression.h"
#include "lib/hash/checksum.h"

namespace blocksieve::internal {

Status GranuleColumn::Open(const ColumnHeader& header, ByteView part, const GranuleSet* always,
                           Kernel kernel) {
  if (Checksum(part) != header.checksum) return DamagedIndex("checksum of a column does not fit");
  kernel_ = kernel;
  always_ = always->IsEmpty() ? nullptr : always;
  const uint64_t num_granules = always->num_granules();

  Decoder decoder(part);
  Decoder marks(decoder.Bytes(header.mark_bytes));
  missing_ = PackedInts::Read(num_granules, &marks);
  present_ = PackedInts::Read(num_granules, &marks);
  if (!marks.ok() || !marks.rest().empty() || !missing_.IsBits() || !present_.IsBits()) {
    return DamagedIndex("marks of a column");
  }

  const ByteView filters = decoder.Bytes(header.filter_bytes);
  if (header.filters == GranulePart::kPresent) {
    if (!filters_.Open(filters, header.classes, header.num_probes, num_granules)) {
      return DamagedIndex("filters do not fit their size classes");
    }
    info_.num_probes = header.num_probes;
    info_.num_size_classes = static_cast<uint32_t>(header.classes.size());
    info_.max_distinct = header.classes.back().max_values;
    info_.probe_bytes = filters_.probe_bytes();
  } else if (!filters.empty()) {
    return DamagedIndex("has filters of a column said to have none");
  }

  Decoder bounds(decoder.Bytes(header.bounds_bytes));
  if (header.bounds == GranulePart::kPresent) {
    const ByteView raw = ReadCompressed(&bounds, &bounds_memory_);
    if (!bounds.ok() || !bounds_.Open(raw, header.type, num_granules)) {
      return DamagedIndex("bounds of a column");
    }
  }
  if (!bounds.rest().empty()) return DamagedIndex("bounds of a column have bytes too many");

  info_.name = header.name;
  info_.type = header.type;
  info_.target_fpr = header.target_fpr;
  info_.filters = header.filters;
  info_.bounds = header.bounds;
  info_.num_distinct = header.num_distinct;
  info_.filter_bytes = header.filter_bytes;
  info_.bounds_bytes = header.bounds_bytes;
  info_.mark_bytes = header.mark_bytes;
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

void GranuleColumn::KeepContainingAny(std::span<const uint64_t> value_hashes,
                                      GranuleSet* candidates) const {
  if (info_.filters != GranulePart::kPresent && !value_hashes.empty()) {
    return KeepPresent(candidates);
  }
  KeepUnlessAlways(candidates, [&](GranuleSet* kept) {
    if (value_hashes.empty()) {
      *kept = GranuleSet::None(kept->num_granules());
    } else {
      filters_.KeepContainingAny(value_hashes, kept, kernel_);
    }
  });
}

void GranuleColumn::KeepOverlapping(const ValueRange& range, GranuleSet* candidates) const {
  if (info_.bounds != GranulePart::kPresent) return KeepPresent(candidates);
  KeepUnlessAlways(candidates, [&](GranuleSet* kept) { bounds_.KeepOverlapping(range, kept); });
}

void GranuleColumn::KeepDiffering(const Value& value, GranuleSet* candidates) const {
  if (info_.bounds != GranulePart::kPresent) return KeepPresent(candidates);
  KeepUnlessAlways(candidates, [&](GranuleSet* kept) { bounds_.KeepDiffering(value, kept); });
}

void GranuleColumn::KeepMissing(GranuleSet* candidates) const {
  KeepUnlessAlways(candidates, [this](GranuleSet* kept) {
    const std::span<uint64_t> words = kept->words();
    for (size_t w = 0; w < words.size(); ++w) words[w] &= missing_.Word(w);
  });
}

void GranuleColumn::KeepPresent(GranuleSet* candidates) const {
  KeepUnlessAlways(candidates, [this](GranuleSet* kept) {
    const std::span<uint64_t> words = kept->words();
    for (size_t w = 0; w < words.size(); ++w) words[w] &= present_.Word(w);
  });
}

}  // namespace blocksieve::internal
