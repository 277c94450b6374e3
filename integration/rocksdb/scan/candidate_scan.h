#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "integration/rocksdb/scan/merged_ranges.h"
#include "integration/rocksdb/scan/scan_plan.h"
#include "lib/skip/top_rows.h"

namespace blocksieve::rocksdb_plugin {

/// Matching rows in scan order. Stands at the first after Start().
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
/// looks up those that are not final at the snapshot.
class CandidateScan final : public RowStream {
 public:
  /// `ranges` is pinned already, `memtables` were held before the files of `plan` were listed; null
  /// if they were read already. `context` must outlive this.
  CandidateScan(ScanContext* context, std::unique_ptr<MergedRanges> ranges,
                std::unique_ptr<CandidateSource> memtables, ScanPlan plan);
  ~CandidateScan() override;

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
  std::vector<CandidateSource*> heap_;  // of sources that are not done, by their bounds

  std::vector<Row> batch_;
  size_t next_row_ = 0;
  size_t batch_rows_;  // of the next batch
  size_t batch_bytes_ = 0;
  std::optional<std::string> last_key_;  // that was taken
  rocksdb::Status status_;
};

/// The first rows of an order. Reads granules in the order of their bounds, and none that can hold
/// no better row than those that it has. What has no bounds, memtables among it, is read first.
///
/// Each group of granules is read as a scan of its own, whose rows are final at the snapshot. A row
/// has its value of now in some granule, which comes no later than that value.
class OrderedScan final : public RowStream {
 public:
  /// Matching rows have a value of the order's column. `ranges` is pinned already, `memtables` were
  /// held before the files of `plan` were listed. `context` must outlive this.
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
  /// A granule, and the best that a row in it can be.
  struct Place {
    std::string best;  // a SortKey
    size_t file = 0;   // of the plan
    size_t granule = 0;
  };

  void FindPlaces();
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
  std::vector<Place> places_;  // the best first
  rocksdb::Status status_;
  decltype(top_.rows().begin()) next_;
};

}  // namespace blocksieve::rocksdb_plugin
