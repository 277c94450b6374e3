// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <random>

#include "bench/skip/experiment.h"
#include "bench/skip/scan_database.h"
#include "lib/column/values.h"

namespace blocksieve::bench::skip {
namespace {

constexpr unsigned kFullScans = 3;

// `count` distinct values of the column with number `column`, drawn uniformly, however often they
// occur, with the rows that have them; all values if there are fewer.
std::vector<Query> DrawQueries(const Dataset& dataset, size_t column, size_t count, uint64_t seed) {
  const Column& queried = dataset.columns[column].column;
  std::map<std::string, std::vector<uint32_t>, std::less<>> rows_of;  // sorted: the seed decides
  for (uint32_t row = 0; row < dataset.rows.size(); ++row) {
    internal::ForEachIndexed(queried, dataset.rows.value(row), [&](const Value& each) {
      auto at = rows_of.find(each.bytes());
      if (at == rows_of.end()) at = rows_of.emplace(each.bytes(), 0).first;
      if (at->second.empty() || at->second.back() != row) at->second.push_back(row);
      return true;
    });
  }
  std::vector<std::pair<std::string, std::vector<uint32_t>>> drawn;
  std::sample(rows_of.begin(), rows_of.end(), std::back_inserter(drawn), count,
              std::mt19937_64(seed));
  std::vector<Query> queries;
  for (auto& [value, rows] : drawn) {
    queries.push_back(
        {Must(Predicate::Compare(queried, Comparison::kHas, Value::Bytes(value)), "predicate"),
         std::move(rows)});
  }
  return queries;
}

// Scans for a value that no row has, which return nothing and read everything.
std::vector<double> FullScanSeconds(ScanDatabase& database, const Column& column,
                                    uint64_t num_blocks) {
  const Predicate nothing =
      Must(Predicate::Compare(column, Comparison::kHas, Value::Bytes("nosuchvalue")), "predicate");
  std::vector<double> seconds;
  for (unsigned turn = 0; turn < kFullScans; ++turn) {
    database.ForgetReads();
    const ScanCost full = database.Scan({nothing, {}}, /*use_index=*/false);
    seconds.push_back(full.seconds);
    if (full.data_blocks != num_blocks) {
      Fail("a full scan read {} data blocks, the files have {}", full.data_blocks, num_blocks);
    }
  }
  return seconds;
}

// Scans by one column, compacted or with a fifth of the rows rewritten. `other`: the same rows with
// a block index; null: none.
void MeasureColumn(const Dataset& dataset, ScanDatabase& database, ScanDatabase* other,
                   const RowBlocks& blocks, bool is_rewritten, size_t column, size_t num_queries,
                   Job& job) {
  struct Sum {
    uint64_t blocks = 0;
    std::vector<double> seconds;  // by query

    void Add(const ScanCost& cost) {
      blocks += cost.data_blocks;
      seconds.push_back(cost.seconds);
    }
  };
  uint64_t rows = 0, least = 0;  // rows returned, data blocks with such a row
  Sum scans, pruned, by_block;   // the last two by iterators that leave out files, or blocks
  for (const Query& query : DrawQueries(dataset, column, num_queries, job.options.seed)) {
    rows += query.rows.size();
    least += blocks.Count(query.rows);
    database.ForgetReads();
    scans.Add(database.Scan(query, /*use_index=*/true));
    database.ForgetReads();
    pruned.Add(database.ReadPruned(query));
    if (other == nullptr) continue;
    other->ForgetReads();
    by_block.Add(other->ReadPruned(query));
  }
  const auto per_query = [&](uint64_t sum) { return Ratio(sum, scans.seconds.size()); };
  const std::vector<double> full =
      FullScanSeconds(database, dataset.columns[column].column, blocks.num_blocks);
  const std::string name =
      dataset.columns[column].description + (is_rewritten ? ", a fifth rewritten" : ", compacted");
  const auto full_blocks = static_cast<double>(blocks.num_blocks);
  const bool is_clustered = dataset.columns[column].is_clustered;
  const bool is_in_few_files = column == kMinuteColumn && !is_rewritten;
  const double saved =
      (full_blocks - per_query(pruned.blocks)) / (full_blocks - per_query(scans.blocks));
  Line& line = job.results.In("Scans for one value, on average", "Column, state")[name];
  line.Add("data blocks: full scan", "", full_blocks)
      .Add("data blocks: skip index", "", per_query(scans.blocks))
      .Add("data blocks: pruned iterator", "", per_query(pruned.blocks))
      .Add("data blocks: minimum", "", per_query(least))
      .Add("relative to the minimum", "x", Ratio(scans.blocks, least),
           is_clustered ? NotAbove(is_rewritten ? 1.12 : 1.03) : Target{})
      .Add("pruned iterator: share of the saving", "", saved,
           is_in_few_files ? NotBelow(.85) : Target{})
      .Add("matching rows", "", per_query(rows))
      .Add("time: with the index", "s", scans.seconds)
      .Add("time: pruned iterator", "s", pruned.seconds)
      .Add("time: full scan", "s", full)
      .Add("times as fast", "x", SpreadOf(full).median / SpreadOf(scans.seconds).median);
  if (other != nullptr) {
    line.Add("data blocks: block index", "", per_query(by_block.blocks))
        .Add("time: block index", "s", by_block.seconds);
  }
  if (!job.results.headline.empty()) return;
  job.results.headline = fmt::format(
      "{:.3g} times fewer data blocks read by a scan for one value, with a skip index: {:.0f} "
      "without an index, {:.3g} with one; {:.3g} hold a match; {}.",
      full_blocks / per_query(scans.blocks), full_blocks, per_query(scans.blocks), per_query(least),
      name);
}

}  // namespace

void MeasureScans(const Dataset& dataset, const Effort& effort, Job& job) {
  SkipIndexOptions index;
  index.columns = dataset.Columns();
  const TempDir dir(job.db_dir);
  ScanDatabase database(dataset, dir.path() / "skip", index);
  std::optional<ScanDatabase> by_block;
  if (kHasBlockIndexes) by_block.emplace(dataset, dir.path() / "block", index, /*by_block=*/true);
  ScanDatabase* const other = by_block ? &*by_block : nullptr;
  for (const bool is_rewritten : {false, true}) {
    job.progress.Show(is_rewritten ? "scanning, a fifth rewritten" : "filling and scanning");
    for (ScanDatabase* each : {&database, other}) {
      if (each == nullptr) continue;
      is_rewritten ? each->Rewrite() : each->Fill(KeyOrder(dataset.rows.size()));
    }
    const RowBlocks blocks = BlocksOf(database.db(), dataset.rows);
    for (size_t column = 0; column < dataset.columns.size(); ++column) {
      MeasureColumn(dataset, database, other, blocks, is_rewritten, column, effort.queries, job);
    }
  }
}

}  // namespace blocksieve::bench::skip
