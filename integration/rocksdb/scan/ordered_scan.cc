#include "integration/rocksdb/scan/candidate_scan.h"
#include "lib/skip/file_index.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

namespace blocksieve::rocksdb_plugin {
namespace {

internal::TopRows::KeyLess KeyLess(const rocksdb::Comparator* comparator) {
  return [comparator](const std::string& a, const std::string& b) {
    return comparator->Compare(a, b) < 0;
  };
}

}  // namespace

OrderedScan::OrderedScan(ScanContext* context, const ScanOrder& order, uint64_t limit,
                         std::unique_ptr<MergedRanges> ranges,
                         std::unique_ptr<CandidateSource> memtables, ScanPlan plan)
    : context_(context),
      order_(order),
      top_(order, limit, KeyLess(context->comparator)),
      ranges_(std::move(ranges)),
      memtables_(std::move(memtables)),
      plan_(std::move(plan)),
      next_(top_.rows().end()) {}

void OrderedScan::FindPlaces() {
  for (size_t number = 0; number < plan_.files.size(); ++number) {
    const PlannedFile& file = plan_.files[number];
    PlannedFile unknown = file;  // what of the file is read first
    if (!file.is_whole) {
      const SkipIndex& index = *file.index->index();
      const std::optional<size_t> column = index.FindColumn(order_.column);
      const std::vector<GranuleBounds> bounds =
          column ? index.granules().column_index(*column).Bounds() : std::vector<GranuleBounds>();
      for (size_t granule = 0; granule < bounds.size(); ++granule) {
        const GranuleBounds& known = bounds[granule];
        const bool is_known = !index.granules().AlwaysMatches(granule) &&
                              (!known.has_values || !order_.is_descending || known.high);
        if (!is_known || !file.granules.Has(granule)) continue;
        unknown.granules.Remove(granule);
        if (!known.has_values) continue;  // no row of it has a value
        places_.push_back({order_.is_descending ? *known.high : known.low, number, granule});
      }
    }
    if (unknown.is_whole || !unknown.granules.IsEmpty()) {
      without_bounds_.push_back(std::move(unknown));
    }
  }
  std::sort(places_.begin(), places_.end(), [this](const Place& a, const Place& b) {
    if (a.best != b.best) return (a.best < b.best) != order_.is_descending;
    return std::pair(a.file, a.granule) < std::pair(b.file, b.granule);
  });
}

ScanPlan OrderedScan::PlanOf(size_t begin, size_t end) const {
  ScanPlan plan{{}, plan_.map, plan_.map_is_complete};
  std::vector<std::optional<PlannedFile>> files(plan_.files.size());
  for (size_t i = begin; i < end; ++i) {
    std::optional<PlannedFile>& file = files[places_[i].file];
    if (!file) {
      file = plan_.files[places_[i].file];
      file->granules = GranuleSet::None(file->granules.num_granules());
    }
    file->granules.Add(places_[i].granule);
  }
  for (std::optional<PlannedFile>& file : files) {
    if (file) plan.files.push_back(*std::move(file));
  }
  return plan;
}

// As many granules as must be read if all of their rows match; and a part of what was read, so that
// rare matches do not take as many scans as there are granules.
size_t OrderedScan::EndOfGroup(size_t begin) const {
  constexpr size_t kPartOfThoseRead = 8;
  const size_t least = begin + 1 + begin / kPartOfThoseRead;
  uint64_t rows = 0;
  size_t end = begin;
  while (end < places_.size() && top_.WouldTake(places_[end].best) &&
         (end < least || rows < top_.num_wanted())) {
    const Place& place = places_[end++];
    rows += plan_.files[place.file].index->index()->granules().NumRows(place.granule);
  }
  return end;
}

void OrderedScan::Read(RowStream* rows) {
  for (rows->Start(); rows->Valid(); rows->Next()) {
    top_.Add(rows->key().ToStringView(), rows->value().ToStringView());
  }
  if (status_.ok()) status_ = rows->status();
}

void OrderedScan::Start() {
  FindPlaces();
  ScanPlan first{std::move(without_bounds_), plan_.map, plan_.map_is_complete};
  CandidateScan unordered(context_, std::move(ranges_), std::move(memtables_), std::move(first));
  Read(&unordered);
  for (size_t begin = 0; status_.ok() && begin < places_.size();) {
    const size_t end = EndOfGroup(begin);
    if (end == begin) break;  // no row behind it is better than the last
    context_->counts.granules_read += end - begin;
    CandidateScan group(context_, std::make_unique<MergedRanges>(context_), /*memtables=*/nullptr,
                        PlanOf(begin, end));
    Read(&group);
    begin = end;
  }
  if (status_.ok()) next_ = top_.rows().begin();
}

}  // namespace blocksieve::rocksdb_plugin
