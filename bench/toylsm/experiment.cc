#include "bench/toylsm/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "bench/support/measure.h"
#include "bench/support/terminal.h"
#include "bench/toylsm/tree.h"

namespace blocksieve::bench::toy {
namespace {

using toylsm::Count;

// Data blocks read.
uint64_t Scan(toylsm::Db& db, const Dataset& dataset, const Query& query,
              const std::vector<std::string_view>& values, bool use_index) {
  CheckInterrupt();
  ForgetReads(db);
  const auto scan = db.Scan(query.predicate, nullptr, use_index);
  size_t found = 0;
  for (; scan->Valid(); scan->Next(), ++found) {
    if (found == query.rows.size() || scan->key() != dataset.rows.key(query.rows[found]) ||
        scan->value() != values[query.rows[found]]) {
      Fail("{}: a scan returned a row that does not match, or is not the next one",
           query.predicate.ToText());
    }
  }
  Check(scan->status(), "scan");
  if (found != query.rows.size()) {
    Fail("{}: a scan returned {} rows of {}", query.predicate.ToText(), found, query.rows.size());
  }
  return db.counters().Get(Count::kDataBlocksFromDisk);
}

uint64_t SkipIndexBytes(const toylsm::Db& db) {
  uint64_t bytes = 0;
  for (const auto& file : db.version()->AllFiles()) bytes += file->index().skip_index.stored_bytes;
  return bytes;
}

void MeasureState(toylsm::Db& db, const Dataset& dataset,
                  const std::vector<std::string_view>& values, std::string_view state,
                  size_t num_queries, uint64_t seed, Results& results) {
  const RowBlocks row_blocks(db, dataset.rows);
  for (size_t column = 0; column < dataset.columns.size(); ++column) {
    ScanResult& result = results.scans.emplace_back();
    result.column = dataset.columns[column].description;
    result.state = state;
    result.runs = db.version()->runs.size();
    result.skip_index_bytes = SkipIndexBytes(db);
    for (const Query& query : DrawQueries(dataset, column, values, num_queries, seed)) {
      ++result.queries;
      result.rows += query.rows.size();
      result.data_blocks_read += Scan(db, dataset, query, values, /*use_index=*/true);
      result.oracle_blocks += row_blocks.Count(query.rows);
      if (result.full_scan_blocks == 0) {
        result.full_scan_blocks = Scan(db, dataset, query, values, /*use_index=*/false);
      }
    }
    if (result.full_scan_blocks != row_blocks.num_blocks()) {
      Fail("a full scan read {} data blocks, the files have {}", result.full_scan_blocks,
           row_blocks.num_blocks());
    }
  }
}

// Scans for values of each column, with the skip index and without, of a tree of several levels,
// of the same compacted, and after a fifth of the rows was written anew. Adds to `results.scans`.
void MeasureScans(const Dataset& dataset, size_t num_queries, uint64_t seed,
                  const std::filesystem::path& db_dir, Progress& progress, Results& results) {
  toylsm::Options options = TreeOptions(dataset.rows);
  options.key_filters = toylsm::Options().key_filters;  // for re-checks
  options.value_columns = dataset.Columns();
  options.cache_bytes = UINT64_MAX;  // no block is read twice by a scan
  const std::filesystem::path path = db_dir / "db";
  {
    const auto db = OpenDb(options, path);
    const auto measure = [&](std::string_view state, bool is_rewritten) {
      progress.Show(fmt::format("scanning, {}", state));
      MeasureState(*db, dataset, dataset.Values(is_rewritten), state, num_queries, seed, results);
    };
    progress.Show("filling, with a skip index");
    WriteRows(*db, dataset.rows, seed);
    measure("as written", false);
    Check(db->Compact(), "compact");
    measure("compacted", false);
    WriteRows(*db, dataset.rewritten, seed);
    measure("a fifth rewritten", true);
  }
  std::filesystem::remove_all(path);
}

}  // namespace

Results RunExperiment(const Dataset& dataset, const Effort& effort, uint64_t seed,
                      const std::filesystem::path& db_dir, Progress& progress) {
  const Stopwatch stopwatch;
  Results results;
  results.input = dataset.description;
  results.num_rows = dataset.rows.size();
  results.row_bytes = dataset.rows.num_bytes();
  results.cache_bytes = std::max<uint64_t>(results.row_bytes / 8, 256 << 10);
  progress.Show("choosing keys to look up");
  const LookupKeys keys = DrawLookupKeys(dataset.rows, effort.lookups, seed);
  MeasureLookups(dataset.rows, keys, seed, db_dir, progress, results);
  MeasureScans(dataset, effort.queries, seed, db_dir, progress, results);
  results.seconds = stopwatch.Seconds();
  return results;
}

}  // namespace blocksieve::bench::toy
