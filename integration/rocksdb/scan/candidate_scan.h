#pragma once

#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "integration/rocksdb/scan/merged_ranges.h"
#include "integration/rocksdb/scan/row_stream.h"
#include "integration/rocksdb/scan/scan_plan.h"

namespace blocksieve::rocksdb_plugin {

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

}  // namespace blocksieve::rocksdb_plugin
