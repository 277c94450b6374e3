#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "integration/rocksdb/scan/merged_ranges.h"
#include "integration/rocksdb/scan/scan_plan.h"
#include "lib/skip/top_rows.h"

namespace blocksieve::rocksdb_plugin {

/// Matching rows in scan order. Start() moves to the first row.
class RowStream {
 public:
  virtual ~RowStream() = default;

  virtual void Start() = 0;
  virtual bool Valid() const = 0;
  /// REQUIRES: Valid()
  virtual void Next() = 0;
  virtual rocksdb::Slice key() const = 0;
  virtual rocksdb::Slice value() const = 0;
  virtual rocksdb::Status status() const = 0;
};

/// Merges the candidates of memtables, files and merged ranges in scan order, batch by batch, and
/// looks up candidates that are not final at the snapshot.
class CandidateScan final : public RowStream {
 public:
  /// REQUIRES: `ranges` is pinned; `memtables` were pinned before the files of `plan` were listed,
  /// or are null if they were read already. `context` must outlive this.
  CandidateScan(ScanContext* context, std::unique_ptr<MergedRanges> ranges,
                std::unique_ptr<CandidateSource> memtables, ScanPlan plan);

  void Start() override { FillBatch(); }
  bool Valid() const override { return next_row_ < batch_.size(); }
  void Next() override {
    assert(Valid());
    if (++next_row_ == batch_.size()) FillBatch();
  }
  rocksdb::Slice key() const override { return batch_[next_row_].key; }
  rocksdb::Slice value() const override { return batch_[next_row_].value; }
  rocksdb::Status status() const override { return status_; }

 private:
  struct Row {
    std::string key;
    std::string value;
    bool is_final = false;
  };

  void FillBatch();
  void CollectCandidates();
  bool TakeNext();
  void TakeRange();
  void TakeSource();
  void AddRow(const rocksdb::Slice& key, const rocksdb::Slice* final_value);
  void Recheck();
  bool ComesLater(const CandidateSource* a, const CandidateSource* b) const;
  void PushSource(CandidateSource* source);

  ScanContext* const context_;
  const ScanPlan plan_;
  const std::unique_ptr<MergedRanges> ranges_;
  std::vector<std::unique_ptr<CandidateSource>> sources_;
  std::vector<CandidateSource*> heap_;  // sources that are not done, by their bounds

  std::vector<Row> batch_;
  size_t next_row_ = 0;
  size_t batch_rows_;  // maximum of the next batch
  size_t batch_bytes_ = 0;
  std::optional<std::string> last_key_;  // the last key taken
  rocksdb::Status status_;
};

/// The first rows of an order. Reads memtables and granules without bounds first, then granules in
/// the order of their bounds, until no granule can hold a better row than those found.
///
/// Each group of granules is read as a separate scan, whose rows are final at the snapshot. This is
/// complete because the current value of a row lies within the bounds of some granule.
class OrderedScan final : public RowStream {
 public:
  /// REQUIRES: only rows with a value of the order's column match; `ranges` is pinned; `memtables`
  /// were pinned before the files of `plan` were listed. `context` must outlive this.
  OrderedScan(ScanContext* context, const ScanOrder& order, uint64_t limit,
              std::unique_ptr<MergedRanges> ranges, std::unique_ptr<CandidateSource> memtables,
              ScanPlan plan);

  void Start() override;
  bool Valid() const override { return next_ != top_.rows().end(); }
  void Next() override { ++next_; }
  rocksdb::Slice key() const override { return next_->key; }
  rocksdb::Slice value() const override { return next_->value; }
  rocksdb::Status status() const override { return status_; }

 private:
  /// A granule, and the bound of the best row that it can hold.
  struct RankedGranule {
    std::string best;  // a SortKey
    size_t file = 0;   // index in the plan
    size_t granule = 0;
  };

  void RankGranules();
  ScanPlan PlanOf(size_t begin, size_t end) const;
  size_t EndOfGroup(size_t begin) const;
  void Read(RowStream* rows);

  ScanContext* const context_;
  const ScanOrder order_;
  internal::TopRows top_;
  std::unique_ptr<MergedRanges> ranges_;
  std::unique_ptr<CandidateSource> memtables_;
  ScanPlan plan_;
  std::vector<PlannedFile> without_bounds_;
  std::vector<RankedGranule> ranked_;  // best first
  rocksdb::Status status_;
  decltype(top_.rows().begin()) next_;
};

}  // namespace blocksieve::rocksdb_plugin
