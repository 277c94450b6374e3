#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "bench/support/files.h"
#include "bench/toylsm/tree.h"

namespace blocksieve::bench::toy {
namespace {

// Data blocks read.
uint64_t Scan(toylsm::Db& db, const Dataset& dataset, const Query& query,
              const std::vector<std::string_view>& values, bool use_index) {
  CheckInterrupt();
  ForgetReads(db);
  const auto scan = db.Scan(query.predicate, use_index);
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
  return db.counters().data_blocks_from_disk;
}

uint64_t SkipIndexBytes(const toylsm::Db& db) {
  uint64_t bytes = 0;
  for (const auto& file : db.version()->AllFiles()) bytes += file->index().skip_index.stored_bytes;
  return bytes;
}

void MeasureState(toylsm::Db& db, const Dataset& dataset,
                  const std::vector<std::string_view>& values, const char* state,
                  size_t num_queries, Job& job) {
  const RowBlocks row_blocks(db, dataset.rows);
  for (size_t column = 0; column < dataset.columns.size(); ++column) {
    uint64_t rows = 0, read = 0, oracle = 0, full = 0;
    const auto queries = DrawQueries(dataset, column, values, num_queries, job.options.seed);
    for (const Query& query : queries) {
      rows += query.rows.size();
      read += Scan(db, dataset, query, values, /*use_index=*/true);
      oracle += row_blocks.Count(query.rows);
      if (full == 0) full = Scan(db, dataset, query, values, /*use_index=*/false);
    }
    if (full != row_blocks.num_blocks()) {
      Fail("a full scan read {} data blocks, the files have {}", full, row_blocks.num_blocks());
    }
    const auto per_query = [&](uint64_t sum) {
      return static_cast<double>(sum) / static_cast<double>(queries.size());
    };
    const Json parameters = {{"column", dataset.columns[column].description}, {"state", state}};
    job.results.Of("skip index", parameters)
        .Add("runs", "", static_cast<double>(db.version()->runs.size()))
        .Add("values", "", static_cast<double>(queries.size()))
        .Add("matching rows", "", per_query(rows))
        .Add("relative to the minimum", "x",
             static_cast<double>(read) / static_cast<double>(oracle))
        .Add("index size", "bytes", static_cast<double>(SkipIndexBytes(db)))
        .Add("data blocks read", "", per_query(read));
    job.results.Of("minimum", parameters).Add("data blocks read", "", per_query(oracle));
    job.results.Of("full scan", parameters).Add("data blocks read", "", static_cast<double>(full));
  }
}

}  // namespace

void MeasureScans(const Dataset& dataset, const Effort& effort, Job& job) {
  toylsm::Options options = TreeOptions(dataset.rows);
  options.key_filters = toylsm::Options().key_filters;  // for re-checks
  options.skip_index.columns = dataset.Columns();
  options.cache_bytes = UINT64_MAX;  // no block is read twice by a scan
  const TempDir dir(job.db_dir);
  const auto db = OpenDb(options, dir.path());
  const auto measure = [&](const char* state, bool is_rewritten) {
    job.progress.Show(fmt::format("scanning, {}", state));
    MeasureState(*db, dataset, dataset.Values(is_rewritten), state, effort.queries, job);
  };
  job.progress.Show("filling, with a skip index");
  WriteRows(*db, dataset.rows, job.options.seed);
  measure("as written", false);
  Check(db->Compact(), "compact");
  measure("compacted", false);
  WriteRows(*db, dataset.rewritten, job.options.seed);
  measure("a fifth rewritten", true);
}

}  // namespace blocksieve::bench::toy
