#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "integration/rocksdb/scan/candidate_source.h"
#include "integration/rocksdb/scan/merged_ranges.h"
#include "integration/rocksdb/scan/scan_plan.h"

namespace blocksieve::rocksdb_plugin {

struct ScannedRow {
  std::string key;
  std::string value;
  bool is_final = true;  ///< It needs no lookup.
};

/// The rows of a plan: merges the candidates of memtables, files and merged ranges in scan order,
/// batch by batch, and looks up candidates that are not final at the snapshot.
class CandidateScan {
 public:
  /// REQUIRES: `ranges` is pinned; `memtables` were pinned before the files of `plan` were listed,
  /// or are null if they were read already. `context` must outlive this.
  CandidateScan(ScanContext* context, std::unique_ptr<MergedRanges> ranges,
                std::unique_ptr<CandidateSource> memtables, ScanPlan plan);
  CandidateScan(const CandidateScan&) = delete;
  CandidateScan& operator=(const CandidateScan&) = delete;

  /// `*rows` become the next matching rows in scan order; none at the end, or undefined after an
  /// error. Errors: those of RocksDB.
  rocksdb::Status NextBatch(std::vector<ScannedRow>* rows);

 private:
  void CollectCandidates();
  bool TakeNext();
  void TakeRange();
  void TakeSource();
  void AddRow(const rocksdb::Slice& key, const rocksdb::Slice* final_value);
  rocksdb::Status Recheck();
  void PushSource(CandidateSource* source);
  bool ComesLater(const std::optional<rocksdb::Slice>& a,
                  const std::optional<rocksdb::Slice>& b) const;

  ScanContext* const context_;
  ScanPlan plan_;
  const std::unique_ptr<MergedRanges> ranges_;
  std::vector<std::unique_ptr<CandidateSource>> sources_;
  std::vector<CandidateSource*> heap_;  // sources that are not done, by their bounds

  std::vector<ScannedRow> batch_;
  size_t batch_rows_;  // maximum of the next batch
  size_t batch_bytes_ = 0;
  std::optional<std::string> last_key_;  // the last key taken
};

/// The first rows of an order. REQUIRES: as CandidateScan, with memtables, and only rows with a
/// value of the order's column match. Errors: those of RocksDB.
rocksdb::Status ReadFirstRows(ScanContext* context, const ScanOrder& order, uint64_t limit,
                              std::unique_ptr<MergedRanges> ranges,
                              std::unique_ptr<CandidateSource> memtables, ScanPlan plan,
                              std::vector<ScannedRow>* rows);

}  // namespace blocksieve::rocksdb_plugin
