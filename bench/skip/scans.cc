#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "bench/skip/experiment.h"
#include "bench/skip/row_places.h"
#include "bench/skip/scan_database.h"
#include "bench/support/files.h"

namespace blocksieve::bench::skip {
namespace {

constexpr unsigned kFullScans = 3;

// Scans over one column of one database for different values.
struct Scans {
  double queries = 0;
  double rows = 0;            // returned; each answer was compared with the expected one
  double blocks = 0;          // read
  double least_blocks = 0;    // different blocks that hold a row of the answer
  double granule_blocks = 0;  // different blocks of the granules that hold a row of the answer
  double granules_selected = 0;
  double granules_matching = 0;
  std::vector<double> seconds;  // by query

  void Add(const Query& query, const ScanCost& cost, const RowPlaces& places) {
    ++queries;
    rows += static_cast<double>(query.rows.size());
    blocks += static_cast<double>(cost.data_blocks);
    least_blocks += static_cast<double>(places.CountBlocks(query.rows));
    granule_blocks += static_cast<double>(places.CountBlocksOfGranules(query.rows));
    granules_selected += static_cast<double>(cost.explanation.granules_selected);
    granules_matching += static_cast<double>(places.CountGranules(query.rows));
    seconds.push_back(cost.seconds);
  }
};

// Full scans: for a value that no row has, so that they return nothing and read everything.
std::vector<double> FullScanSeconds(ScanDatabase& database, const Column& column,
                                    const RowPlaces& places) {
  const Predicate nothing = Must(Predicate::Has(column, Value::Bytes("nosuchvalue")), "predicate");
  std::vector<double> seconds;
  for (unsigned turn = 0; turn < kFullScans; ++turn) {
    database.ForgetReads();
    const ScanCost full = database.Scan({"", nothing, {}}, {}, /*use_index=*/false);
    seconds.push_back(full.seconds);
    if (full.data_blocks != places.num_blocks()) {
      Fail("a full scan read {} data blocks, the files have {}", full.data_blocks,
           places.num_blocks());
    }
  }
  return seconds;
}

class DatabaseScans {
 public:
  DatabaseScans(const Dataset& dataset, ScanDatabase& database, const SkipIndexOptions& index,
                const Place& place, Results& results)
      : dataset_(dataset), database_(database), index_(index), place_(place), results_(results) {}

  void Measure(const Effort& effort, bool is_rewritten) {
    const RowPlaces places(database_.db(), dataset_.rows);
    const std::vector<std::string_view> values = dataset_.Values(is_rewritten);
    for (size_t column = 0; column < dataset_.columns.size(); ++column) {
      MeasureColumn(column, values, places, effort.queries, is_rewritten);
      if (is_block_granules() && !is_rewritten) {
        MeasureFpr(column, values, places, effort.fpr_queries);
      }
    }
  }

 private:
  bool is_block_granules() const { return index_.granule_rows == kDefaultGranuleRows; }

  std::string name(size_t column) const {
    return fmt::format("{}, {}", dataset_.name, dataset_.columns[column].description);
  }

  Scans ScanEach(size_t column, const std::vector<std::string_view>& values,
                 const RowPlaces& places, size_t num_queries, uint64_t seed, bool is_cold) {
    Scans scans;
    for (const Query& query : DrawQueries(dataset_, column, values, num_queries, seed)) {
      if (is_cold) database_.ForgetReads();
      scans.Add(query, database_.Scan(query, values, /*use_index=*/true), places);
    }
    return scans;
  }

  void MeasureColumn(size_t column, const std::vector<std::string_view>& values,
                     const RowPlaces& places, size_t num_queries, bool is_rewritten) {
    const Scans scans = ScanEach(column, values, places, num_queries, place_.seed, true);
    const std::vector<double> full =
        FullScanSeconds(database_, dataset_.columns[column].column, places);
    const auto full_blocks = static_cast<double>(places.num_blocks());
    const Json parameters = {
        {"scan", name(column)},
        {"state", is_rewritten ? "a fifth rewritten" : "compacted"},
        {"granule", is_block_granules() ? "a block" : fmt::format("{} rows", index_.granule_rows)},
        {"granules", places.num_granules()}};
    const std::pair<const char*, double> blocks[] = {
        {"matching rows (least)", scans.least_blocks / scans.queries},
        {"matching granules", scans.granule_blocks / scans.queries},
        {"skip index", scans.blocks / scans.queries},
        {"full scan", full_blocks}};
    for (const auto& [what, count] : blocks) {
      results_.Of(what, parameters).Add("data blocks", "", count);
    }
    results_.Of("skip index", parameters)
        .Add("matching rows", "", scans.rows / scans.queries)
        .Add("blocks, of the least", "x", scans.blocks / scans.least_blocks)
        .Add("blocks, of a full scan", "share", scans.blocks / scans.queries / full_blocks)
        .Add("blocks, times fewer", "x", full_blocks * scans.queries / scans.blocks)
        .AddTurns("time: with the index", "s", scans.seconds)
        .AddTurns("time: full scan", "s", full)
        .Add("times as fast", "x", Quotient(SpreadOf(full), SpreadOf(scans.seconds)));
  }

  // Counts, for many values, the granules that are read but hold no match, against what the target
  // FPR allows. The cache makes no difference.
  void MeasureFpr(size_t column, const std::vector<std::string_view>& values,
                  const RowPlaces& places, size_t num_queries) {
    const Scans scans = ScanEach(column, values, places, num_queries, place_.seed + 1, false);
    const double without_match =
        scans.queries * static_cast<double>(places.num_granules()) - scans.granules_matching;
    const bool is_clustered = dataset_.columns[column].is_clustered;
    results_.Of(is_clustered ? "clustered" : "scattered", {{"scan", name(column)}})
        .Add("wasted granules, of the target FPR", "x",
             (scans.granules_selected - scans.granules_matching) /
                 (index_.target_fpr * without_match));
  }

  const Dataset& dataset_;
  ScanDatabase& database_;
  const SkipIndexOptions& index_;
  const Place& place_;
  Results& results_;
};

}  // namespace

void MeasureScans(const Dataset& dataset, const Effort& effort, const Place& place,
                  Results& results) {
  for (const uint64_t granule_rows : effort.granule_rows) {
    const auto show = [&](std::string_view what) {
      place.progress.Show(
          fmt::format("{} rows, granules of {}: {}", dataset.name, granule_rows, what));
    };
    SkipIndexOptions index;
    index.columns = dataset.Columns();
    index.granule_rows = granule_rows;
    if (granule_rows != kDefaultGranuleRows) {
      index.block_granules = false;
      index.granule_bytes = 0;
      index.max_index_bytes = 0;
    }
    const TempDir dir(place.db_dir);
    ScanDatabase database(dataset, dir.path(), index);
    DatabaseScans scans(dataset, database, index, place, results);
    show("filling");
    database.Fill(KeyOrder(dataset.rows.size()));
    show("scanning");
    scans.Measure(effort, /*is_rewritten=*/false);
    show("rewriting a fifth of the rows");
    database.Rewrite();
    show("scanning, a fifth rewritten");
    scans.Measure(effort, /*is_rewritten=*/true);
  }
}

}  // namespace blocksieve::bench::skip
