// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/scan/scan_plan.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::rocksdb_plugin {

FileMap::FileMap(const rocksdb::Comparator* comparator, rocksdb::ColumnFamilyMetaData metadata)
    : comparator_(comparator), metadata_(std::move(metadata)) {
  for (const rocksdb::LevelMetaData& level : metadata_.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      by_number_[FileNumberOf(file.name)] = &file;
    }
  }
}

const rocksdb::SstFileMetaData* FileMap::Find(uint64_t file_number) const {
  const auto found = by_number_.find(file_number);
  return found == by_number_.end() ? nullptr : found->second;
}

bool FileMap::OthersOverlap(const ScanRange& range, uint64_t file_number) const {
  assert(range.low && range.high);
  const auto overlaps = [&](const rocksdb::SstFileMetaData& file) {
    return comparator_->Compare(file.smallestkey, *range.high) <= 0 &&
           comparator_->Compare(*range.low, file.largestkey) <= 0;
  };
  for (const rocksdb::LevelMetaData& level : metadata_.levels) {
    const auto& files = level.files;
    // From level 1 on, files are in key order and do not overlap.
    auto file = level.level == 0
                    ? files.begin()
                    : std::partition_point(files.begin(), files.end(), [&](const auto& one) {
                        return comparator_->Compare(one.largestkey, *range.low) < 0;
                      });
    for (; file != files.end(); ++file) {
      if (overlaps(*file)) {
        if (FileNumberOf(file->name) != file_number) return true;
      } else if (level.level != 0) {
        break;
      }
    }
  }
  return false;
}

OlderEntries FileMap::Older(size_t level, size_t index) const {
  const auto& files = metadata_.levels[level].files;
  const rocksdb::SstFileMetaData& file = files[index];
  const auto is_before = [this](const std::string& a, const std::string& b) {
    return comparator_->Compare(a, b) < 0;
  };
  const auto overlaps = [&](const rocksdb::SstFileMetaData& other) {
    return !is_before(other.largestkey, file.smallestkey) &&
           !is_before(file.largestkey, other.smallestkey);
  };
  for (size_t deeper = level + 1; deeper < metadata_.levels.size(); ++deeper) {
    const auto& others = metadata_.levels[deeper].files;
    const auto other = std::partition_point(others.begin(), others.end(), [&](const auto& one) {
      return is_before(one.largestkey, file.smallestkey);
    });
    if (other != others.end() && overlaps(*other)) return OlderEntries::kInOtherFiles;
  }
  if (metadata_.levels[level].level != 0) {
    const bool shares_key = (index > 0 && overlaps(files[index - 1])) ||
                            (index + 1 < files.size() && overlaps(files[index + 1]));
    return shares_key ? OlderEntries::kOfSharedKeys : OlderEntries::kNone;
  }
  // By sequence numbers and not by RocksDB's order of files: a repaired database may have a file
  // beside those that it was compacted from. An ingested file has one sequence number, and some
  // versions of RocksDB (9.10) still read the entries of a file that another database wrote as
  // older than all others.
  for (size_t i = 0; i < files.size(); ++i) {
    const bool is_newer = files[i].smallest_seqno > file.largest_seqno &&
                          files[i].smallest_seqno != files[i].largest_seqno;
    if (i != index && !is_newer && overlaps(files[i])) return OlderEntries::kInOtherFiles;
  }
  return OlderEntries::kNone;
}

namespace {

class Planner {
 public:
  Planner(ScanContext* context, std::shared_ptr<const FileMap> map,
          rocksdb::SequenceNumber snapshot, ScanPruner* indexes)
      : context_(*context),
        counts_(context->counts),
        map_(std::move(map)),
        snapshot_(snapshot),
        indexes_(*indexes) {
    sst_.file_system = context_.db->GetEnv()->GetFileSystem();
  }

  void AddFile(const std::string& path,
               const std::shared_ptr<const rocksdb::TableProperties>& properties, bool is_lazy,
               ScanPlan* plan) {
    PlannedFile file{.number = FileNumberOf(path), .path = path, .properties = properties};
    num_rows_ += properties->num_entries;
    const rocksdb::SstFileMetaData* const metadata = map_->Find(file.number);
    if (metadata == nullptr) plan->map_is_complete = false;
    if (metadata != nullptr && metadata->smallest_seqno > snapshot_) {
      ++counts_.num_files;
      ++counts_.files_pruned;
      ++counts_.files_too_new;
      return;
    }
    if (is_lazy && metadata != nullptr) {
      ++counts_.files_not_reached;
    } else {
      Prune(&file);
      if (!file.is_whole && file.granules.IsEmpty()) return;
    }
    plan->files.push_back(std::move(file));
  }

  void PruneReached(PlannedFile* file) {
    --counts_.files_not_reached;
    Prune(file);
    indexes_.Finish();
  }

  void Prune(PlannedFile* file) {
    const rocksdb::SstFileMetaData* const metadata = map_->Find(file->number);
    sst_.path = file->path;
    file->index =
        SkipIndexCatalog::Default().Open(file->properties, sst_, context_.predicate.columns());
    const SkipIndex* const index = file->index->index();
    std::optional<GranuleSet> granules =
        indexes_.PruneFile(index, FileNameOf(file->path), ProblemOf(*file->index));
    uint64_t rows = file->properties->num_entries;
    file->is_whole = !granules;
    if (granules) {
      RemoveTooNew(*index, &*granules);
      rows = indexes_.Select(*index, *granules);
      file->granules = *std::move(granules);
    }
    const bool is_alone =
        metadata != nullptr &&
        !map_->OthersOverlap({metadata->smallestkey, metadata->largestkey}, file->number);
    if (!is_alone) num_rechecked_rows_ += rows;
    counts_.rows_planned += rows;
  }

  void Decide() {
    indexes_.Finish();
    if (counts_.full_scan_reason.empty() &&
        static_cast<double>(num_rechecked_rows_) >
            context_.max_rechecked_share * static_cast<double>(num_rows_)) {
      counts_.full_scan_reason =
          "most granules are selected: reading all in order costs less than re-checking rows";
    }
  }

 private:
  /// Why the index cannot be used in this database; empty if it can.
  std::string ProblemOf(const SstIndex& file) const {
    if (file.index() == nullptr) return file.problem();
    if (file.value_suffix_bytes() == context_.value_suffix_bytes) return "";
    return "value_suffix_bytes of its index is " + std::to_string(file.value_suffix_bytes()) +
           "; that of the database is " + std::to_string(context_.value_suffix_bytes);
  }

  void RemoveTooNew(const SkipIndex& index, GranuleSet* granules) {
    for (size_t granule = 0; granule < index.num_granules(); ++granule) {
      if (granules->Has(granule) && index.MinSequence(granule) > snapshot_) {
        granules->Remove(granule);
        ++counts_.granules_too_new;
      }
    }
  }

  ScanContext& context_;
  ScanExplanation& counts_;
  const std::shared_ptr<const FileMap> map_;
  const rocksdb::SequenceNumber snapshot_;
  ScanPruner& indexes_;
  SstPlace sst_;
  uint64_t num_rows_ = 0;
  uint64_t num_rechecked_rows_ = 0;
};

}  // namespace

ScanPlan MakePlan(ScanContext* context, const rocksdb::TablePropertiesCollection& properties,
                  rocksdb::ColumnFamilyMetaData metadata, rocksdb::SequenceNumber snapshot,
                  bool is_lazy, ScanPruner* indexes) {
  assert(indexes->CanPrune());
  ScanPlan plan;
  plan.map = std::make_shared<const FileMap>(context->comparator, std::move(metadata));
  plan.map_is_complete = true;
  const auto planner = std::make_shared<Planner>(context, plan.map, snapshot, indexes);
  for (const auto& [path, file] : properties) planner->AddFile(path, file, is_lazy, &plan);
  if (!is_lazy) planner->Decide();
  plan.prune = [planner](PlannedFile* file) { planner->PruneReached(file); };
  return plan;
}

}  // namespace blocksieve::rocksdb_plugin
