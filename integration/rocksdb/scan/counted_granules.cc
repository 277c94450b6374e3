#include "integration/rocksdb/scan/counted_granules.h"

#include <utility>

#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::rocksdb_plugin {
namespace {

/// Whether each entry of the file is a row that readers see.
bool HasRowsOnly(const FileMap& map, const rocksdb::SstFileMetaData* file,
                 const rocksdb::TableProperties& properties) {
  return file != nullptr && file->smallest_seqno == 0 && file->largest_seqno == 0 &&
         properties.num_deletions == 0 && properties.num_range_deletions == 0 &&
         properties.num_merge_operands == 0 &&
         properties.user_collected_properties.count(kExternalFileProperty) == 0 &&
         !map.OthersOverlap({file->smallestkey, file->largestkey}, FileNumberOf(file->name));
}

/// The granules in which every row matches: in which the predicate is false for none, nor unknown.
GranuleSet GranulesThatMatch(const SkipIndexReader& index, const Predicate& predicate,
                             const Predicate& negated) {
  GranuleSet others = index.Candidates(negated);
  for (const Column& column : predicate.columns()) {
    GranuleSet missing = GranuleSet::All(index.num_granules());
    if (const std::optional<size_t> number = index.FindColumn(column)) {
      index.granules().column_index(*number).KeepMissing(&missing);
    }
    others |= missing;
  }
  GranuleSet matching = GranuleSet::None(index.num_granules());
  for (size_t granule = 0; granule < index.num_granules(); ++granule) {
    if (!others.Has(granule) && !index.granules().AlwaysMatches(granule)) matching.Add(granule);
  }
  return matching;
}

}  // namespace

bool MemtablesAreEmpty(const ScanContext& context) {
  for (const std::string& property : {rocksdb::DB::Properties::kNumEntriesActiveMemTable,
                                      rocksdb::DB::Properties::kNumEntriesImmMemTables}) {
    uint64_t entries = 1;
    if (!context.db->GetIntProperty(context.column_family, property, &entries) || entries != 0) {
      return false;
    }
  }
  return true;
}

uint64_t CountGranules(const ScanContext& context, ScanPlan* plan) {
  const Result<Predicate> negated = Predicate::Not(context.predicate);
  if (!negated.ok() || !plan->map_is_complete) return 0;
  uint64_t rows = 0;
  for (PlannedFile& file : plan->files) {
    if (file.is_whole ||
        !HasRowsOnly(*plan->map, plan->map->Find(file.number), file.index->properties())) {
      continue;
    }
    const SkipIndexReader& index = *file.index->index();
    const GranuleSet matching = GranulesThatMatch(index, context.predicate, *negated);
    for (size_t granule = 0; granule < index.num_granules(); ++granule) {
      if (!matching.Has(granule) || !file.granules.Has(granule)) continue;
      file.granules.Remove(granule);
      rows += index.granules().NumRows(granule);
    }
  }
  return rows;
}

std::optional<uint64_t> CountAll(const ScanContext& context,
                                 const rocksdb::TablePropertiesCollection& files,
                                 rocksdb::ColumnFamilyMetaData metadata) {
  const auto no_index = [](const Column&) -> const ColumnIndex* { return nullptr; };
  const Result<Predicate> negated = Predicate::Not(context.predicate);
  if (!negated.ok() || !context.predicate.columns().empty() || !negated->CanSkip(no_index)) {
    return std::nullopt;
  }
  const FileMap map(context.comparator, std::move(metadata));
  uint64_t rows = 0;
  for (const auto& [path, properties] : files) {
    if (!HasRowsOnly(map, map.Find(FileNumberOf(path)), *properties)) return std::nullopt;
    rows += properties->num_entries;
  }
  return rows;
}

}  // namespace blocksieve::rocksdb_plugin
