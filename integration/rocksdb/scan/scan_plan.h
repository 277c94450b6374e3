#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/comparator.h>
#include <rocksdb/db.h>
#include <rocksdb/metadata.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/scan.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/scan/family_files.h"
#include "integration/rocksdb/scan/scan_context.h"

namespace blocksieve::rocksdb_plugin {

/// The part of a file to read.
struct PlannedFile {
  uint64_t number = 0;
  const KnownTable* table = nullptr;  ///< Of the plan's map.

  /// Null until the file is pruned; see PruneFile.
  std::shared_ptr<const SstIndex> index = nullptr;

  /// Read all of the file, as it has no usable index.
  bool is_whole = false;

  /// The granules to read, unless is_whole.
  GranuleSet granules = GranuleSet::None(0);
};

/// The parts of a column family's files to read.
struct ScanPlan {
  std::vector<PlannedFile> files;
  std::shared_ptr<const FamilyFiles> map;

  /// The metadata has all files. If not, any range may overlap others.
  bool map_is_complete = false;
};

/// Counts the rows of granules that a count need not read; PRUNING.md has the proof.
class GranuleCounter {
 public:
  /// Reads the memtables. REQUIRES: the snapshot was taken before, and the files are listed after
  /// this. `context` must outlive it.
  explicit GranuleCounter(ScanContext* context);

  /// Takes out of the file's selected granules those of which all rows are visible and match.
  /// Counts these rows as returned, and returns their number.
  uint64_t TakeWhole(const ScanPlan& plan, PlannedFile* file);

 private:
  bool IsApart(const FamilyFiles& map, const ScanRange& range, uint64_t file_number);

  ScanContext* const context_;
  std::optional<Predicate> may_fail_;  // nothing: no granule can be counted.
  std::unique_ptr<rocksdb::Iterator> memtables_;
};

/// Opens the index of a file, sets what of the file to read, and returns the number of rows to
/// re-check. Throws std::bad_alloc.
uint64_t PruneFile(ScanContext* context, const ScanPlan& plan, PlannedFile* file);

/// Prunes the granules of all files with their indexes. `map`: read after the memtables were
/// pinned. If the context's counts then have a full_scan_reason, read everything instead.
/// `is_lazy`: files of the metadata are not pruned before the scan reaches them, and no full scan
/// is demanded. REQUIRES: context->indexes->CanPrune()
ScanPlan MakePlan(ScanContext* context, std::shared_ptr<const FamilyFiles> map, bool is_lazy);

}  // namespace blocksieve::rocksdb_plugin
