#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "integration/rocksdb/scan/merged_ranges.h"
#include "integration/rocksdb/scan/scan_context.h"
#include "integration/rocksdb/scan/scan_plan.h"

namespace blocksieve::rocksdb_plugin {

/// Candidates in the memtables of the start of the scan, which this pins. `*status`: the error of
/// creating their iterator, as secondary instances have no iterators at a snapshot.
std::unique_ptr<CandidateSource> NewMemtableSource(ScanContext* context, MergedRanges* ranges,
                                                   rocksdb::Status* status);

/// Candidates of one file: the rows of its selected granules, one range of adjacent granules at a
/// time. All arguments must outlive it.
std::unique_ptr<CandidateSource> NewFileSource(ScanContext* context, const ScanPlan* plan,
                                               PlannedFile* file, MergedRanges* ranges);

}  // namespace blocksieve::rocksdb_plugin
