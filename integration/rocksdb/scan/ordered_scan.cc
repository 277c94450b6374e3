// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/scan/candidate_scan.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/errors.h"
#include "lib/skip/top_rows.h"

namespace blocksieve::rocksdb_plugin {
namespace {

internal::TopRows::KeyLess MakeKeyLess(const rocksdb::Comparator* comparator) {
  return [comparator](const std::string& a, const std::string& b) {
    return comparator->Compare(a, b) < 0;
  };
}

/// Reads memtables and granules without bounds first, then granules in the order of their bounds,
/// until no granule can hold a better row than those found.
///
/// Each group of granules is read as a separate scan, whose rows are final at the snapshot. This is
/// complete because the current value of a row lies within the bounds of some granule.
class OrderedScan {
 public:
  OrderedScan(ScanContext* context, const ScanOrder& order, uint64_t limit, ScanPlan plan)
      : context_(context),
        order_(order),
        top_(order, limit, MakeKeyLess(context->comparator)),
        plan_(std::move(plan)) {}

  rocksdb::Status Read(std::unique_ptr<MergedRanges> ranges,
                       std::unique_ptr<CandidateSource> memtables) {
    ScanPlan first{RankGranules(), plan_.map, plan_.map_is_complete};
    CandidateScan unranked(context_, std::move(ranges), std::move(memtables), std::move(first));
    BLOCKSIEVE_RETURN_IF_ERROR(AddRows(&unranked));
    for (size_t begin = 0; begin < ranked_.size();) {
      const size_t end = EndOfGroup(begin);
      if (end == begin) break;  // no remaining granule holds a better row
      context_->counts.granules_read += end - begin;
      CandidateScan group(context_, std::make_unique<MergedRanges>(context_), /*memtables=*/nullptr,
                          SlicePlan(begin, end));
      BLOCKSIEVE_RETURN_IF_ERROR(AddRows(&group));
      begin = end;
    }
    return rocksdb::Status::OK();
  }

  const internal::TopRows& rows() const { return top_; }

 private:
  /// A granule, and the bound of the best row that it can hold.
  struct RankedGranule {
    std::string best;  // a SortKey
    size_t file = 0;   // index in the plan
    size_t granule = 0;
  };

  /// Ranks the granules with bounds, and returns the parts of files without.
  std::vector<PlannedFile> RankGranules() {
    std::vector<PlannedFile> without_bounds;
    for (size_t number = 0; number < plan_.files.size(); ++number) {
      const PlannedFile& file = plan_.files[number];
      PlannedFile unknown = file;  // the granules without bounds
      if (!file.is_whole) {
        const SkipIndex& index = *file.index->index();
        const std::vector<GranuleBounds> bounds = index.Bounds(order_.column);
        for (size_t granule = 0; granule < bounds.size(); ++granule) {
          const GranuleBounds& known = bounds[granule];
          const bool is_known = !index.AlwaysMatches(granule) &&
                                (!known.has_values || !order_.is_descending || known.high);
          if (!is_known || !file.granules.Has(granule)) continue;
          unknown.granules.Remove(granule);
          if (!known.has_values) continue;  // no row in it has a value
          ranked_.push_back({order_.is_descending ? *known.high : known.low, number, granule});
        }
      }
      if (unknown.is_whole || !unknown.granules.IsEmpty()) {
        without_bounds.push_back(std::move(unknown));
      }
    }
    std::sort(ranked_.begin(), ranked_.end(),
              [this](const RankedGranule& a, const RankedGranule& b) {
                if (a.best != b.best) return (a.best < b.best) != order_.is_descending;
                return std::pair(a.file, a.granule) < std::pair(b.file, b.granule);
              });
    return without_bounds;
  }

  ScanPlan SlicePlan(size_t begin, size_t end) const {
    ScanPlan plan{{}, plan_.map, plan_.map_is_complete};
    std::vector<std::optional<PlannedFile>> files(plan_.files.size());
    for (size_t i = begin; i < end; ++i) {
      std::optional<PlannedFile>& file = files[ranked_[i].file];
      if (!file) {
        file = plan_.files[ranked_[i].file];
        file->granules = GranuleSet::None(file->granules.num_granules());
      }
      file->granules.Add(ranked_[i].granule);
    }
    for (std::optional<PlannedFile>& file : files) {
      if (file) plan.files.push_back(*std::move(file));
    }
    return plan;
  }

  // The group ends where it has enough rows if all of them match, but has at least 1/8 of the
  // granules read so far, so that rare matches do not need one scan per granule.
  size_t EndOfGroup(size_t begin) const {
    constexpr size_t kInverseShareOfRead = 8;
    const size_t min_end = begin + 1 + begin / kInverseShareOfRead;
    uint64_t rows = 0;
    size_t end = begin;
    while (end < ranked_.size() && top_.WouldTake(ranked_[end].best) &&
           (end < min_end || rows < top_.num_wanted())) {
      const RankedGranule& ranked = ranked_[end++];
      rows += plan_.files[ranked.file].index->index()->NumRows(ranked.granule);
    }
    return end;
  }

  rocksdb::Status AddRows(CandidateScan* scan) {
    std::vector<ScannedRow> rows;
    do {
      BLOCKSIEVE_RETURN_IF_ERROR(scan->NextBatch(&rows));
      for (const ScannedRow& row : rows) top_.Add(row.key, row.value);
    } while (!rows.empty());
    return rocksdb::Status::OK();
  }

  ScanContext* const context_;
  const ScanOrder order_;
  internal::TopRows top_;
  ScanPlan plan_;
  std::vector<RankedGranule> ranked_;  // best first
};

}  // namespace

rocksdb::Status ReadFirstRows(ScanContext* context, const ScanOrder& order, uint64_t limit,
                              std::unique_ptr<MergedRanges> ranges,
                              std::unique_ptr<CandidateSource> memtables, ScanPlan plan,
                              std::vector<ScannedRow>* rows) {
  OrderedScan scan(context, order, limit, std::move(plan));
  BLOCKSIEVE_RETURN_IF_ERROR(scan.Read(std::move(ranges), std::move(memtables)));
  for (const auto& row : scan.rows().rows()) rows->push_back({row.key, row.value});
  return rocksdb::Status::OK();
}

}  // namespace blocksieve::rocksdb_plugin
