// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/scan/scan_plan.h"

#include <rocksdb/perf_level.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "integration/rocksdb/block_index/factory.h"
#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::rocksdb_plugin {

namespace {

/// Why the index cannot be used in this database; empty if it can.
std::string FindProblem(const ScanContext& context, const SstIndex& file) {
  if (file.index() == nullptr) return file.problem();
  if (file.value_suffix_bytes() == context.value_suffix_bytes) return "";
  return "value_suffix_bytes of its index is " + std::to_string(file.value_suffix_bytes()) +
         "; that of the database is " + std::to_string(context.value_suffix_bytes);
}

// While it lives, RocksDB counts no blocks of this thread: an explanation counts those of rows.
class UncountedReads {
 public:
  UncountedReads() { rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable); }
  ~UncountedReads() { rocksdb::SetPerfLevel(level_); }
  UncountedReads(const UncountedReads&) = delete;
  UncountedReads& operator=(const UncountedReads&) = delete;

 private:
  const rocksdb::PerfLevel level_ = rocksdb::GetPerfLevel();
};

// The index of values in a block index, whose granules are the blocks.
CarriedIndex CarriedByBlocks(const SstPlace& sst, const rocksdb::Comparator* comparator) {
  CarriedIndex carried;
  std::shared_ptr<const BlockIndex> index;
  {
    const UncountedReads uncounted;
    index = ReadBlockIndex(sst, comparator, &carried.problem);
  }
  if (index == nullptr || index->values() == nullptr) return carried;
  carried.index = {index, index->values()};
  carried.value_suffix_bytes = index->value_suffix_bytes();
  carried.memory_bytes = index->memory_bytes();
  carried.get_keys = [index](size_t granule, std::string* first, std::string* last) {
    auto [low, high] = index->KeyRange(granule);
    if (last != nullptr) *last = std::move(high);
    if (first != nullptr && low) *first = *std::move(low);
    return low.has_value();
  };
  return carried;
}

void RemoveTooNew(const SkipIndex& index, ScanContext* context, GranuleSet* granules) {
  for (size_t granule = 0; granule < index.num_granules(); ++granule) {
    if (granules->Has(granule) && index.MinSequence(granule) > context->sequence) {
      granules->Remove(granule);
      ++context->counts.granules_too_new;
    }
  }
}

}  // namespace

uint64_t PruneFile(ScanContext* context, const ScanPlan& plan, PlannedFile* file) {
  const KnownTable& table = *file->table;
  ReadCarried read_block_index;
  if (table.block_index) {
    read_block_index = [context](const SstPlace& place) {
      return CarriedByBlocks(place, context->comparator);
    };
  }
  file->index = SkipIndexCatalog::Default().Open(table.id, table.properties,
                                                 {context->file_system, table.path},
                                                 context->predicate.columns(), read_block_index);
  const SkipIndex* const index = file->index->index();
  std::optional<GranuleSet> granules =
      context->indexes->PruneFile(index, BaseName(table.path), FindProblem(*context, *file->index));
  uint64_t rows = table.num_entries;
  file->is_whole = !granules;
  if (granules) {
    RemoveTooNew(*index, context, &*granules);
    rows = context->indexes->Select(*index, *granules);
    file->granules = *std::move(granules);
    if (context->counter != nullptr) rows -= context->counter->TakeWhole(plan, file);
  }
  context->counts.rows_planned += rows;
  if (rows == 0) return 0;
  const rocksdb::SstFileMetaData* const metadata = plan.map->Find(file->number);
  const bool is_alone =
      metadata != nullptr &&
      !plan.map->OthersOverlap({metadata->smallestkey, metadata->largestkey}, file->number);
  return is_alone ? 0 : rows;
}

ScanPlan MakePlan(ScanContext* context, std::shared_ptr<const FamilyFiles> map, bool is_lazy) {
  assert(context->indexes->CanPrune());
  ScanExplanation& counts = context->counts;
  ScanPlan plan;
  plan.map = std::move(map);
  // A count needs to know before it decides for the first file.
  plan.map_is_complete = context->counter == nullptr ||
                         std::ranges::all_of(plan.map->tables(), [&](const auto& table) {
                           return plan.map->Find(table->number) != nullptr;
                         });
  uint64_t num_rows = 0;
  uint64_t num_rechecked = 0;
  for (const auto& table : plan.map->tables()) {
    PlannedFile file{.number = table->number, .table = table.get()};
    num_rows += table->num_entries;
    const rocksdb::SstFileMetaData* const known = plan.map->Find(file.number);
    if (known == nullptr) plan.map_is_complete = false;
    if (known != nullptr && known->smallest_seqno > context->sequence) {
      ++counts.num_files;
      ++counts.files_pruned;
      ++counts.files_too_new;
      continue;
    }
    if (is_lazy && known != nullptr) {
      ++counts.files_not_reached;
    } else {
      num_rechecked += PruneFile(context, plan, &file);
      if (!file.is_whole && file.granules.IsEmpty()) continue;
    }
    plan.files.push_back(std::move(file));
  }
  if (is_lazy) return plan;
  context->indexes->Finish();
  if (counts.full_scan_reason.empty() &&
      static_cast<double>(num_rechecked) >
          context->max_rechecked_share * static_cast<double>(num_rows)) {
    counts.full_scan_reason =
        "most granules are selected: reading all in order costs less than re-checking rows";
  }
  return plan;
}

}  // namespace blocksieve::rocksdb_plugin
