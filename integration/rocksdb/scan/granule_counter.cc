// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "integration/rocksdb/scan/scan_plan.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using Properties = rocksdb::DB::Properties;

/// True for rows that do not match: without a value, a comparison is neither true nor false.
Result<Predicate> Fails(const Predicate& predicate) {
  BLOCKSIEVE_ASSIGN_OR_RETURN(Predicate fails, Predicate::Not(predicate));
  std::vector<Predicate> any = {std::move(fails)};
  for (const Column& column : predicate.columns()) any.push_back(Predicate::IsMissing(column));
  return Predicate::Or(std::move(any));
}

/// Whether files and memtables alone decide which rows a reader sees.
bool ShowsWhatIsStored(const ScanContext& context) {
  // Of databases that wrap another one, DBWithTTL shows the same rows, without the suffix.
  return (context.db->GetRootDB() == context.db || context.value_suffix_bytes != 0) &&
         !context.has_merges && context.read_options.max_skippable_internal_keys == 0 &&
         !context.comparator->CanKeysWithDifferentByteContentsBeEqual();
}

}  // namespace

GranuleCounter::GranuleCounter(ScanContext* context) : context_(context) {
  if (!ShowsWhatIsStored(*context)) return;
  // Entries only move from the active memtable to the others, so none is missed in this order.
  uint64_t num_entries = 0;
  for (const std::string& name :
       {Properties::kNumEntriesActiveMemTable, Properties::kNumEntriesImmMemTables}) {
    uint64_t entries = 0;
    if (!context->db->GetIntProperty(context->column_family, name, &entries)) return;
    num_entries += entries;
  }
  rocksdb::ReadOptions options = context->read_options;
  options.read_tier = rocksdb::kMemtableTier;
  memtables_.reset(context->db->NewIterator(options, context->column_family));
  uint64_t num_rows = 0;
  for (memtables_->SeekToFirst(); memtables_->Valid(); memtables_->Next()) ++num_rows;
  // Any other entry is a delete, hidden, or newer than the snapshot.
  Result<Predicate> fails = Fails(context->predicate);
  if (fails.ok() && memtables_->status().ok() && num_rows == num_entries)
    may_fail_ = *std::move(fails);
}

bool GranuleCounter::IsApart(const FamilyFiles& map, const ScanRange& range, uint64_t file_number) {
  if (map.OthersOverlap(range, file_number)) return false;
  memtables_->Seek(*range.low);
  return memtables_->status().ok() &&
         (!memtables_->Valid() ||
          context_->comparator->Compare(memtables_->key(), *range.high) > 0);
}

uint64_t GranuleCounter::TakeWhole(const ScanPlan& plan, PlannedFile* file) {
  if (!may_fail_ || !plan.map_is_complete) return 0;
  const FamilyFiles& map = *plan.map;
  const rocksdb::SstFileMetaData* const metadata = map.Find(file->number);
  if (metadata->largest_seqno > context_->sequence ||
      file->table->properties->num_range_deletions != 0)
    return 0;
  const SkipIndex& index = *file->index->index();
  // The range of a block may begin with the last key of the one before, by other comparators.
  if (!index.has_keys() && context_->comparator != rocksdb::BytewiseComparator()) return 0;
  const GranuleSet may_fail = index.Candidates(*may_fail_);
  const ScanRange all{metadata->smallestkey, metadata->largestkey};
  const bool is_apart = IsApart(map, all, file->number);
  uint64_t rows = 0;
  for (size_t granule = 0; granule < index.num_granules(); ++granule) {
    if (!file->granules.Has(granule) || may_fail.Has(granule) || !index.IsPlain(granule)) continue;
    if (!is_apart) {
      ScanRange range = all;
      file->index->GetKeyRange(granule, &*range.low, &*range.high);
      if (!IsApart(map, range, file->number)) continue;
    }
    file->granules.Remove(granule);
    rows += index.NumRows(granule);
    ++context_->counts.granules_counted;
  }
  context_->counts.rows_returned += rows;
  return rows;
}

}  // namespace blocksieve::rocksdb_plugin
