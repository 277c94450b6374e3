#include "integration/rocksdb/scan/scan_plan.h"

#include <utility>

#include "integration/rocksdb/index/counting_indexes.h"
#include "integration/rocksdb/index/granule_properties.h"

namespace blocksieve::rocksdb_plugin {
namespace {

constexpr size_t kMaxFileProblems = 100;

class Planner {
 public:
  Planner(ScanContext* context, rocksdb::SequenceNumber snapshot, ComparisonCounts* comparisons,
          ScanPlan* plan)
      : context_(*context),
        counts_(context->counts),
        snapshot_(snapshot),
        comparisons_(*comparisons),
        plan_(*plan) {}

  void AddFile(const std::string& path,
               const std::shared_ptr<const rocksdb::TableProperties>& properties) {
    PlannedFile file;
    file.number = FileNumberOf(path);
    ++counts_.num_files;
    num_rows_ += properties->num_entries;
    const rocksdb::SstFileMetaData* const metadata = plan_.map->Find(file.number);
    if (metadata == nullptr) plan_.map_is_complete = false;
    if (metadata != nullptr && metadata->smallest_seqno > snapshot_) {
      ++counts_.files_skipped;
      ++counts_.files_too_new;
      return;
    }
    file.index = GranuleCatalog::Default().Open(properties);
    comparisons_.AddFile(file.index->index());
    const std::string problem = SelectGranules(&file);
    uint64_t rows = properties->num_entries;
    if (!problem.empty()) {
      file.is_whole = true;
      ++num_whole_;
      ++counts_.files_without_index;
      if (counts_.file_problems.size() < kMaxFileProblems) {
        counts_.file_problems.push_back(path.substr(path.find_last_of('/') + 1) + ": " + problem);
      }
    } else if (file.granules.IsEmpty()) {
      ++counts_.files_skipped;
      return;
    } else {
      rows = NoteGranules(file);
    }
    const bool is_alone =
        metadata != nullptr &&
        !plan_.map->OthersOverlap({metadata->smallestkey, metadata->largestkey}, file.number);
    if (!is_alone) num_rechecked_rows_ += rows;
    plan_.files.push_back(std::move(file));
  }

  void Decide() {
    if (counts_.num_files != 0 && num_whole_ == counts_.num_files) {
      plan_.full_scan_reason = "no file has an index that can skip";
    } else if (static_cast<double>(num_rechecked_rows_) >
               context_.max_rechecked_share * static_cast<double>(num_rows_)) {
      plan_.full_scan_reason =
          "most granules are selected: reading all in order costs less than re-checking rows";
    }
  }

 private:
  /// Why the file is to be read as a whole; empty if its granules tell.
  std::string SelectGranules(PlannedFile* file) {
    const GranuleIndex* const index = file->index->index();
    if (index == nullptr) return file->index->problem();
    if (file->index->value_suffix_bytes() != context_.value_suffix_bytes) {
      return "indexed with value_suffix_bytes=" +
             std::to_string(file->index->value_suffix_bytes()) + ", the database has " +
             std::to_string(context_.value_suffix_bytes);
    }
    CountingIndexes indexes(*index, &counts_);
    const ColumnIndexLookup lookup = indexes.Lookup();
    if (!context_.predicate.CanSkip(lookup)) return "its index has none of the columns that skip";
    const auto num_granules = static_cast<size_t>(index->num_granules());
    file->granules = context_.predicate.Candidates(num_granules, lookup);
    counts_.num_granules += num_granules;
    for (size_t granule = 0; granule < num_granules; ++granule) {
      if (file->granules.Has(granule) && index->MinSequence(granule) > snapshot_) {
        file->granules.Remove(granule);
        ++counts_.granules_too_new;
      }
    }
    return "";
  }

  uint64_t NoteGranules(const PlannedFile& file) {
    const GranuleIndex& index = *file.index->index();
    counts_.index_bytes_touched += index.key_bytes();
    counts_.granules_selected += file.granules.Count();
    uint64_t rows = 0;
    for (size_t granule = 0; granule < index.num_granules(); ++granule) {
      if (!file.granules.Has(granule)) continue;
      rows += index.NumRows(granule);
      counts_.granules_always_match += index.AlwaysMatches(granule);
    }
    return rows;
  }

  ScanContext& context_;
  ScanExplanation& counts_;
  const rocksdb::SequenceNumber snapshot_;
  ComparisonCounts& comparisons_;
  ScanPlan& plan_;
  uint64_t num_whole_ = 0;
  uint64_t num_rows_ = 0;
  uint64_t num_rechecked_rows_ = 0;
};

}  // namespace

ScanPlan MakePlan(ScanContext* context, const rocksdb::TablePropertiesCollection& properties,
                  rocksdb::ColumnFamilyMetaData metadata, rocksdb::SequenceNumber snapshot,
                  ComparisonCounts* comparisons) {
  ScanPlan plan;
  plan.map = std::make_shared<const FileMap>(context->comparator, std::move(metadata));
  plan.map_is_complete = true;
  Planner planner(context, snapshot, comparisons, &plan);
  for (const auto& [path, file] : properties) planner.AddFile(path, file);
  planner.Decide();
  return plan;
}

}  // namespace blocksieve::rocksdb_plugin
