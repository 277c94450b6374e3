
#include "integration/cli/toylsm/toylsm_engine.h"
#include "integration/toylsm/scan.h"
#include "lib/skip/skip_planner.h"
#include "lib/skip/top_rows.h"

namespace blocksieve::cli {
namespace {

using toylsm::Count;

// What the scan is going to ask the indexes of the files, asked once more in order to count it.
ScanExplanation ExplainPlan(StoredToyLsm* stored, const Predicate& predicate, bool use_index) {
  ScanExplanation explanation;
  internal::SkipPlanner planner(predicate, &explanation, {.use_index = use_index});
  if (planner.CanSkip()) {
    for (const auto& file : stored->version().AllFiles()) {
      const auto opened = file->skip_index(stored->context());
      const SkipIndexReader* const index = opened == nullptr ? nullptr : &opened->index();
      const std::optional<GranuleSet> granules =
          planner.AskFile(index, FileName(*file), IndexProblem(*file, stored->context()));
      if (granules) planner.Select(*index, *granules);
    }
  }
  planner.Finish();
  return explanation;
}

class ToyLsmScan final : public RowScan {
 public:
  ToyLsmScan(StoredToyLsm* stored, const Predicate& predicate, const ScanRequest& request)
      : counters_(stored->counters()),
        plan_(request.explain ? ExplainPlan(stored, predicate, request.use_index)
                              : ScanExplanation()),
        limit_(request.order ? 0 : request.limit) {
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

// Reads all that matches.
class OrderedToyLsmScan final : public RowScan {
 public:
  OrderedToyLsmScan(std::unique_ptr<RowScan> scan, const ScanRequest& request)
      : scan_(std::move(scan)), top_(*request.order, request.limit) {
    for (; scan_->Valid(); scan_->Next()) top_.Add(scan_->key(), scan_->value());
    next_ = scan_->problem().empty() ? top_.rows().begin() : top_.rows().end();
  }

  bool Valid() const override { return next_ != top_.rows().end(); }
  void Next() override { ++next_; }
  std::string_view key() const override { return next_->key; }
  std::string_view value() const override { return next_->value; }
  std::string problem() const override { return scan_->problem(); }
  ScanExplanation Explain() const override {
    ScanExplanation explanation = scan_->Explain();
    explanation.rows_returned = top_.rows().size();
    return explanation;
  }

 private:
  const std::unique_ptr<RowScan> scan_;
  internal::TopRows top_;
  decltype(top_.rows().begin()) next_;
};

class ReadToyLsm final : public ReadDatabase {
 public:
  explicit ReadToyLsm(const std::string& path) : stored_(path) {}

  SkipIndexSummary Indexes() override { return IndexesOf(stored_.version(), stored_.context()); }

  std::unique_ptr<RowScan> Scan(const Predicate& predicate, const ScanRequest& request) override {
    auto scan = std::make_unique<ToyLsmScan>(&stored_, predicate, request);
    if (!request.order) return scan;
    return std::make_unique<OrderedToyLsmScan>(std::move(scan), request);
  }

 private:
  StoredToyLsm stored_;
};

}  // namespace

std::unique_ptr<ReadDatabase> OpenToyLsm(const std::string& path) {
  return std::make_unique<ReadToyLsm>(path);
}

}  // namespace blocksieve::cli
