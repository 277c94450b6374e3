#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>

#include "integration/rocksdb/scan/merged_ranges.h"
#include "integration/rocksdb/scan/scan_plan.h"

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

/// The rows of a plan: merges the candidates of memtables, files and merged ranges in scan order,
/// batch by batch, and looks up candidates that are not final at the snapshot. REQUIRES: `ranges`
/// is pinned; `memtables` were pinned before the files of `plan` were listed, or are null if they
/// were read already. `context` must outlive the result.
std::unique_ptr<RowStream> NewCandidateScan(ScanContext* context,
                                            std::unique_ptr<MergedRanges> ranges,
                                            std::unique_ptr<CandidateSource> memtables,
                                            ScanPlan plan);

/// The first rows of an order. REQUIRES: as NewCandidateScan, with memtables, and only rows with a
/// value of the order's column match.
std::unique_ptr<RowStream> NewOrderedScan(ScanContext* context, const ScanOrder& order,
                                          uint64_t limit, std::unique_ptr<MergedRanges> ranges,
                                          std::unique_ptr<CandidateSource> memtables,
                                          ScanPlan plan);

}  // namespace blocksieve::rocksdb_plugin
