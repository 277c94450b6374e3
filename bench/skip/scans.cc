// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "bench/skip/experiment.h"
#include "bench/skip/scan_database.h"
#include "bench/support/files.h"

namespace blocksieve::bench::skip {
namespace {

constexpr unsigned kFullScans = 3;
constexpr const char* kCompacted = "compacted";

// Scans of a database by each of its columns, in one state.
class DatabaseScans {
 public:
  // `by_block`: the same rows with a block index; null: none.
  DatabaseScans(const Dataset& dataset, ScanDatabase& database, ScanDatabase* by_block,
                const char* state, Job& job)
      : dataset_(dataset),
        database_(database),
        by_block_(by_block),
        state_(state),
        blocks_(BlocksOf(database.db(), dataset.rows)),
        seed_(job.options.seed),
        results_(job.results) {}

  void Measure(const Effort& effort) {
    for (size_t column = 0; column < dataset_.columns.size(); ++column) {
      MeasureColumn(column, effort.queries);
    }
  }

 private:
  // Scans for a value that no row has, which return nothing and read everything.
  std::vector<double> FullScanSeconds(const Column& column) {
    const Predicate nothing = Must(
        Predicate::Compare(column, Comparison::kHas, Value::Bytes("nosuchvalue")), "predicate");
    std::vector<double> seconds;
    for (unsigned turn = 0; turn < kFullScans; ++turn) {
      database_.ForgetReads();
      const ScanCost full = database_.Scan({"", nothing, {}}, /*use_index=*/false);
      seconds.push_back(full.seconds);
      if (full.data_blocks != blocks_.num_blocks) {
        Fail("a full scan read {} data blocks, the files have {}", full.data_blocks,
             blocks_.num_blocks);
      }
    }
    return seconds;
  }

  void MeasureColumn(size_t column, size_t num_queries) {
    uint64_t rows = 0, read = 0, least = 0;  // rows returned, data blocks, those with such a row
    std::vector<double> seconds;             // by query
    uint64_t pruned_read = 0;                // by iterators that leave out files
    std::vector<double> pruned_seconds;
    uint64_t blocks_read = 0;  // by iterators that leave out blocks
    std::vector<double> block_seconds;
    for (const Query& query : DrawQueries(dataset_, column, num_queries, seed_)) {
      database_.ForgetReads();
      const ScanCost cost = database_.Scan(query, /*use_index=*/true);
      rows += query.rows.size();
      read += cost.data_blocks;
      least += blocks_.Count(query.rows);
      seconds.push_back(cost.seconds);
      database_.ForgetReads();
      const ScanCost pruned = database_.ReadPruned(query);
      pruned_read += pruned.data_blocks;
      pruned_seconds.push_back(pruned.seconds);
      if (by_block_ == nullptr) continue;
      by_block_->ForgetReads();
      const ScanCost blocks = by_block_->ReadPruned(query);
      blocks_read += blocks.data_blocks;
      block_seconds.push_back(blocks.seconds);
    }
    const auto per_query = [&](uint64_t sum) { return Ratio(sum, seconds.size()); };
    const std::vector<double> full = FullScanSeconds(dataset_.columns[column].column);
    const std::string name = dataset_.columns[column].description + ", " + state_;
    const auto full_blocks = static_cast<double>(blocks_.num_blocks);
    const bool is_rewritten = state_ != kCompacted;
    const bool is_clustered = dataset_.columns[column].is_clustered;
    const bool is_in_few_files = column == kMinuteColumn && !is_rewritten;
    const double saved = (full_blocks - per_query(pruned_read)) / (full_blocks - per_query(read));
    results_.In("Scans for one value, on average", "Column, state")[name]
        .Add("data blocks: full scan", "", full_blocks)
        .Add("data blocks: skip index", "", per_query(read))
        .Add("data blocks: pruned iterator", "", per_query(pruned_read))
        .Add("data blocks: minimum", "", per_query(least))
        .Add("relative to the minimum", "x", Ratio(read, least),
             is_clustered ? NotAbove(is_rewritten ? 1.12 : 1.03) : Target{})
        .Add("pruned iterator: share of the saving", "", saved,
             is_in_few_files ? NotBelow(.85) : Target{})
        .Add("matching rows", "", per_query(rows))
        .Add("time: with the index", "s", seconds)
        .Add("time: pruned iterator", "s", pruned_seconds)
        .Add("time: full scan", "s", full)
        .Add("times as fast", "x", Quotient(SpreadOf(full), SpreadOf(seconds)));
    if (by_block_ != nullptr) {
      results_.In("Scans for one value, on average", "Column, state")[name]
          .Add("data blocks: block index", "", per_query(blocks_read))
          .Add("time: block index", "s", block_seconds);
    }
    if (!results_.headline.empty()) return;
    results_.headline = fmt::format(
        "{:.3g} times fewer data blocks read by a scan for one value, with a skip index: {:.0f} "
        "without an index, {:.3g} with one; {:.3g} hold a match; {}.",
        full_blocks / per_query(read), full_blocks, per_query(read), per_query(least), name);
  }

  const Dataset& dataset_;
  ScanDatabase& database_;
  ScanDatabase* const by_block_;
  const std::string state_;
  const RowBlocks blocks_;
  const uint64_t seed_;
  Results& results_;
};

}  // namespace

void MeasureScans(const Dataset& dataset, const Effort& effort, Job& job) {
  SkipIndexOptions index;
  index.columns = dataset.Columns();
  const TempDir dir(job.db_dir);
  job.progress.Show("filling and scanning");
  ScanDatabase database(dataset, dir.path() / "skip", index);
  std::optional<ScanDatabase> by_block;
  if (kHasBlockIndexes) by_block.emplace(dataset, dir.path() / "block", index, /*by_block=*/true);
  ScanDatabase* const other = by_block ? &*by_block : nullptr;
  database.Fill(KeyOrder(dataset.rows.size()));
  if (other != nullptr) other->Fill(KeyOrder(dataset.rows.size()));
  DatabaseScans(dataset, database, other, kCompacted, job).Measure(effort);
  job.progress.Show("scanning, a fifth rewritten");
  database.Rewrite();
  if (other != nullptr) other->Rewrite();
  DatabaseScans(dataset, database, other, "a fifth rewritten", job).Measure(effort);
}

}  // namespace blocksieve::bench::skip
