#include <utility>

#include "integration/cli/toylsm/toylsm_engine.h"
#include "integration/rocksdb/index/comparison_counts.h"
#include "integration/rocksdb/index/counting_indexes.h"
#include "integration/toylsm/scan.h"

namespace blocksieve::cli {
namespace {

using rocksdb_plugin::ComparisonCounts;
using rocksdb_plugin::CountingIndexes;
using toylsm::Count;

// What the scan is going to ask the index of a file, asked once more in order to count it.
void ExplainFile(const toylsm::SstReader& file, const Predicate& predicate,
                 const toylsm::ReadContext& context, ComparisonCounts* comparisons,
                 ScanExplanation* explanation) {
  constexpr size_t kMaxProblems = 100;
  ++explanation->num_files;
  const std::shared_ptr<const toylsm::ValueIndex> opened = file.value_index(context);
  const GranuleIndex* const index = opened == nullptr ? nullptr : &opened->index();
  comparisons->AddFile(index);
  std::string problem = IndexProblem(file, context);
  if (index != nullptr) {
    CountingIndexes indexes(*index, explanation);
    if (predicate.CanSkip(indexes.Lookup())) {
      const auto num_granules = static_cast<size_t>(index->num_granules());
      const size_t selected = predicate.Candidates(num_granules, indexes.Lookup()).Count();
      explanation->num_granules += num_granules;
      explanation->granules_selected += selected;
      explanation->files_skipped += selected == 0;
      return;
    }
    problem = "its index has none of the columns that skip";
  }
  ++explanation->files_without_index;
  if (explanation->file_problems.size() < kMaxProblems) {
    explanation->file_problems.push_back(FileName(file) + ": " + problem);
  }
}

ScanExplanation ExplainPlan(StoredToyLsm* stored, const Predicate& predicate, bool use_index) {
  ScanExplanation explanation;
  ComparisonCounts comparisons(predicate, /*count_granules=*/true);
  if (!use_index) {
    explanation.full_scan_reason = "use_index is off";
  } else if (!comparisons.CanEverSkip()) {
    explanation.full_scan_reason = "no comparison of the predicate can skip";
  } else {
    for (const auto& file : stored->version().AllFiles()) {
      ExplainFile(*file, predicate, stored->context(), &comparisons, &explanation);
    }
    if (explanation.num_files != 0 && explanation.files_without_index == explanation.num_files) {
      explanation.full_scan_reason = "no file has an index that can skip";
    }
  }
  explanation.is_full_scan = !explanation.full_scan_reason.empty();
  comparisons.Write(&explanation);
  return explanation;
}

class ToyLsmScan final : public RowScan {
 public:
  ToyLsmScan(StoredToyLsm* stored, const Predicate& predicate, const ScanRequest& request)
      : counters_(stored->counters()),
        plan_(request.explain ? ExplainPlan(stored, predicate, request.use_index)
                              : ScanExplanation()),
        limit_(request.limit) {
    counters_.Reset();
    scan_.emplace(stored->view(), stored->context(), predicate, request.use_index, request.reverse);
    rows_returned_ += Valid();
  }

  bool Valid() const override { return !limit_reached_ && scan_->Valid(); }

  void Next() override {
    if (limit_ != 0 && rows_returned_ == limit_) {
      limit_reached_ = true;
      return;
    }
    scan_->Next();
    rows_returned_ += Valid();
  }

  std::string_view key() const override { return scan_->key(); }
  std::string_view value() const override { return scan_->value(); }
  std::string problem() const override { return scan_->status().message(); }

  ScanExplanation Explain() const override {
    ScanExplanation explanation = plan_;
    const toylsm::ScanStats& stats = scan_->stats();
    explanation.rows_read = stats.rows_read;
    explanation.rows_rechecked = stats.rows_rechecked;
    explanation.rows_stale = stats.rows_stale;
    explanation.rows_returned = rows_returned_;
    explanation.data_blocks_read = counters_.Get(Count::kDataBlocksFromDisk);
    explanation.other_blocks_read = counters_.Get(Count::kFilterBlocksFromDisk);
    explanation.block_bytes_read = counters_.Get(Count::kBytesFromDisk);
    return explanation;
  }

 private:
  toylsm::Counters& counters_;
  const ScanExplanation plan_;
  const uint64_t limit_;
  std::optional<toylsm::Scan> scan_;
  uint64_t rows_returned_ = 0;
  bool limit_reached_ = false;
};

}  // namespace

std::unique_ptr<RowScan> ScanToyLsm(StoredToyLsm* stored, const Predicate& predicate,
                                    const ScanRequest& request) {
  return std::make_unique<ToyLsmScan>(stored, predicate, request);
}

}  // namespace blocksieve::cli
