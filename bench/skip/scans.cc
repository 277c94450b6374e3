#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "bench/skip/experiment.h"
#include "bench/skip/scan_database.h"
#include "bench/support/files.h"

namespace blocksieve::bench::skip {
namespace {

constexpr unsigned kFullScans = 3;

// Scans of one database by one column, each for one value.
struct Scans {
  uint64_t queries = 0;
  uint64_t rows = 0;          // returned; each result was compared with the expected one
  uint64_t blocks = 0;        // read
  uint64_t least_blocks = 0;  // distinct blocks that hold a row of the result
  uint64_t granules = 0;      // of all files
  uint64_t granules_selected = 0;
  std::vector<double> seconds;  // by query
};

// Scans of a database by each of its columns, in one state.
class DatabaseScans {
 public:
  DatabaseScans(const Dataset& dataset, ScanDatabase& database, const SkipIndexOptions& index,
                bool is_rewritten, Job& job)
      : dataset_(dataset),
        database_(database),
        index_(index),
        is_rewritten_(is_rewritten),
        blocks_(BlocksOf(database.db(), dataset.rows)),
        values_(dataset.Values(is_rewritten)),
        seed_(job.options.seed),
        results_(job.results) {}

  void Measure(const Effort& effort) {
    for (size_t column = 0; column < dataset_.columns.size(); ++column) {
      MeasureColumn(column, effort.queries);
      if (!is_rewritten_) MeasureFpr(column, effort.fpr_queries);
    }
  }

 private:
  Scans ScanEach(size_t column, size_t num_queries, uint64_t seed, bool is_cold) {
    Scans scans;
    for (const Query& query : DrawQueries(dataset_, column, values_, num_queries, seed)) {
      if (is_cold) database_.ForgetReads();
      const ScanCost cost = database_.Scan(query, values_, /*use_index=*/true);
      ++scans.queries;
      scans.rows += query.rows.size();
      scans.blocks += cost.data_blocks;
      scans.least_blocks += blocks_.Count(query.rows);
      scans.granules = cost.explanation.num_granules;
      scans.granules_selected += cost.explanation.granules_selected;
      scans.seconds.push_back(cost.seconds);
    }
    return scans;
  }

  // Scans for a value that no row has, which return nothing and read everything.
  std::vector<double> FullScanSeconds(const Column& column) {
    const Predicate nothing =
        Must(Predicate::Has(column, Value::Bytes("nosuchvalue")), "predicate");
    std::vector<double> seconds;
    for (unsigned turn = 0; turn < kFullScans; ++turn) {
      database_.ForgetReads();
      const ScanCost full = database_.Scan({"", nothing, {}}, {}, /*use_index=*/false);
      seconds.push_back(full.seconds);
      if (full.data_blocks != blocks_.num_blocks) {
        Fail("a full scan read {} data blocks, the files have {}", full.data_blocks,
             blocks_.num_blocks);
      }
    }
    return seconds;
  }

  void MeasureColumn(size_t column, size_t num_queries) {
    const Scans scans = ScanEach(column, num_queries, seed_, true);
    const std::vector<double> full = FullScanSeconds(dataset_.columns[column].column);
    const std::string name = fmt::format("{}, {}", NameOf(dataset_, dataset_.columns[column]),
                                         is_rewritten_ ? "a fifth rewritten" : "compacted");
    const auto per_query = [&](uint64_t sum) { return Ratio(sum, scans.queries); };
    const auto full_blocks = static_cast<double>(blocks_.num_blocks);
    results_.In("Data blocks read by a scan for one value, on average", "Rows, column, state")[name]
        .Add("full scan", "", full_blocks)
        .Add("skip index", "", per_query(scans.blocks))
        .Add("minimum", "", per_query(scans.least_blocks));
    const bool is_clustered = dataset_.columns[column].is_clustered;
    const bool is_scattered = !is_clustered && dataset_.name == "synthetic" && !is_rewritten_;
    results_.In("Scans for one value")[name]
        .Add("matching rows", "", per_query(scans.rows))
        .Add("blocks, relative to the minimum", "x", Ratio(scans.blocks, scans.least_blocks),
             is_clustered ? NotAbove(is_rewritten_ ? 1.12 : 1.03) : Target{})
        .Add("blocks, relative to a full scan", "share", per_query(scans.blocks) / full_blocks,
             is_scattered ? NotAbove(1.0 / 300) : Target{})
        .Add("time: with the index", "s", scans.seconds)
        .Add("time: full scan", "s", full)
        .Add("times as fast", "x", Quotient(SpreadOf(full), SpreadOf(scans.seconds)));
    if (!results_.headline.empty()) return;
    results_.headline = fmt::format(
        "{:.3g} times fewer data blocks read by a scan for one value, with a skip index: {:.0f} "
        "without an index, {:.3g} with one; {:.3g} hold a match; {}.",
        full_blocks / per_query(scans.blocks), full_blocks, per_query(scans.blocks),
        per_query(scans.least_blocks), name);
  }

  // Counts false-positive granules for many values, relative to the number that the target FPR
  // allows. The state of the cache does not matter.
  void MeasureFpr(size_t column, size_t num_queries) {
    const Scans scans = ScanEach(column, num_queries, seed_ + 1, false);
    const uint64_t without_match = scans.queries * scans.granules - scans.least_blocks;
    results_
        .In("False-positive granules, relative to the target FPR")[NameOf(dataset_,
                                                                          dataset_.columns[column])]
        .Add("ratio", "x",
             Ratio(scans.granules_selected - scans.least_blocks, without_match) / index_.target_fpr,
             dataset_.columns[column].is_clustered ? Target{} : NotAbove(1.05));
  }

  const Dataset& dataset_;
  ScanDatabase& database_;
  const SkipIndexOptions& index_;
  const bool is_rewritten_;
  const RowBlocks blocks_;
  const std::vector<std::string_view> values_;
  const uint64_t seed_;
  Results& results_;
};

}  // namespace

void MeasureScans(const Dataset& dataset, const Effort& effort, Job& job) {
  SkipIndexOptions index;
  index.columns = dataset.Columns();
  const TempDir dir(job.db_dir);
  job.progress.Show(fmt::format("{} rows: filling and scanning", dataset.name));
  ScanDatabase database(dataset, dir.path(), index);
  database.Fill(KeyOrder(dataset.rows.size()));
  DatabaseScans(dataset, database, index, /*is_rewritten=*/false, job).Measure(effort);
  job.progress.Show(fmt::format("{} rows: scanning, a fifth rewritten", dataset.name));
  database.Rewrite();
  DatabaseScans(dataset, database, index, /*is_rewritten=*/true, job).Measure(effort);
}

}  // namespace blocksieve::bench::skip
