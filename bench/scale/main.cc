// SPDX-License-Identifier: Apache-2.0
// scale: measures how costs grow with the number of files. See kManual.

#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>

#include "bench/support/database.h"
#include "bench/support/job.h"
#include "blocksieve/rocksdb/enable.h"
#include "blocksieve/rocksdb/maintenance.h"
#include "blocksieve/rocksdb/prune_reads.h"
#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/compat/version_differences.h"

namespace blocksieve::bench::scale {
namespace {

using Work = std::function<void()>;

constexpr double kMaxExponent = 1.1;  // noise, and caches that all files exceed, look like growth
constexpr int kExitMissed = 3;        // as in bench/run
constexpr const char* kAbsentValue = "v = 'absent'";

// Processor time of `work` in several turns. `begin`: before each, not measured; a turn is one call
// then.
Spread Time(const Work& work, const Work& begin = nullptr) {
  size_t repeats = 1;
  std::vector<double> turns;
  for (double total = 0; turns.size() < 3 || (turns.size() < 15 && total < 1);) {
    CheckInterrupt();
    if (begin) begin();
    const Stopwatch stopwatch;
    for (size_t i = 0; i < repeats; ++i) work();
    const double seconds = stopwatch.CpuSeconds();
    if (!begin && seconds < 0.01 && repeats < 10'000) {
      repeats *= 2;
      continue;
    }
    turns.push_back(seconds / static_cast<double>(repeats));
    total += seconds;
  }
  return SpreadOf(std::move(turns));
}

/// A table of figures by size.
struct Growth {
  /// `theirs`: RocksDB's share, which is exempt.
  void Add(const std::string& name, uint64_t size, const Spread& turns, double theirs = 0) {
    table[name].Add(term::WithCommas(size), "s", turns);
    figures[name][size] = {turns.median - theirs, theirs};
  }

  /// Adds exponents, from the two largest sizes. Returns whether all are within the limit.
  bool Finish() {
    bool is_met = true;
    for (const auto& [name, by_size] : figures) {
      const auto& [size, largest] = *by_size.rbegin();
      const auto& [before, smaller] = *std::next(by_size.rbegin());
      const auto [ours, theirs] = largest;
      Line& line = table[name].Add("RocksDB's share", "share", theirs / (ours + theirs));
      if (ours < 0.1 * theirs || smaller.first <= 0) continue;
      const double exponent = std::log(ours / smaller.first) / std::log(Ratio(size, before));
      line.Add("exponent of ours", "", exponent, NotAbove(kMaxExponent));
      is_met = is_met && exponent <= kMaxExponent;
    }
    return is_met;
  }

  Table& table;
  std::map<std::string, std::map<uint64_t, std::pair<double, double>>> figures = {};
};

/// A database of files with a range of keys each, on level 2 or, for FIFO compaction, on level 0.
class ManyFiles : public Database {
 public:
  ManyFiles(std::filesystem::path path, bool is_fifo, uint64_t num_files, uint64_t rows_per_file)
      : Database({"many files", [this, is_fifo](auto& options) { SetUp(is_fifo, options); }}, 0,
                 std::move(path)) {
    OpenWith(true);
    for (uint64_t file = 0; file < num_files; ++file) Add(rows_per_file, is_fifo);
    if (is_fifo) return;
    CheckOk(db().Flush({}), "flush");
    rocksdb::ColumnFamilyMetaData metadata;
    db().GetColumnFamilyMetaData(&metadata);
    rocksdb::CompactionOptions options;
    options.compression = rocksdb::kNoCompression;
    options.output_file_size_limit = metadata.size / num_files;
    CheckOk(db().CompactFiles(options, {metadata.levels[0].files[0].name}, 2), "compact");
  }

  void OpenWith(bool enabled) {
    is_enabled_ = enabled;
    Open(Reads::kCached);
  }

  // Adds rows after all others. Neighbours have unlike values, so that bounds tell nothing.
  void Add(uint64_t num_rows, bool flush) {
    CheckInterrupt();
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    for (const uint64_t end = num_rows_ + num_rows; num_rows_ < end; ++num_rows_) {
      const uint64_t value = num_rows_ == 0 ? 17 : 100 + num_rows_ * 0x9e3779b1 % 0xffffffff;
      CheckOk(db().Put(options, fmt::format("{:012}", num_rows_),
                       fmt::format("{}\tk{}", value, num_rows_ % 16)),
              "write");
    }
    if (flush) CheckOk(db().Flush({}), "flush");
  }

  void Prune(const std::string& condition) {
    std::shared_ptr<ReadPruning> pruning;
    CheckOk(PruneReads(&db(), nullptr, condition, {}, &pruning), condition);
  }

 private:
  void SetUp(bool is_fifo, rocksdb::Options& options) const {
    options.level0_slowdown_writes_trigger = options.level0_stop_writes_trigger = 1 << 30;
    options.write_buffer_size = size_t{4} << 30;
    if (is_fifo) {
      options.compaction_style = rocksdb::kCompactionStyleFIFO;
      options.compaction_options_fifo.max_table_files_size = uint64_t{1} << 50;
      options.num_levels = 1;
    }
    const EnableOptions enable{.target_fpr = 0.01,
                               .columns = {"v=field:1", "kind=field:2"},
                               .carrier = Carrier::kFilterAndSidecar};
    if (is_enabled_) CheckOk(Enable(&options, enable), "Enable");
  }

  bool is_enabled_ = true;
  uint64_t num_rows_ = 0;
};

void MeasureFiles(ManyFiles& files, const std::string& shape, Growth& growth, Job& job) {
  rocksdb::ColumnFamilyMetaData metadata;
  files.db().GetColumnFamilyMetaData(&metadata);
  const uint64_t size = metadata.file_count;
  const auto add = [&](const std::string& name, const Work& ours, double theirs = 0,
                       const Work& begin = nullptr) {
    job.progress.Show(fmt::format("{} files: {}", size, name));
    growth.Add(name, size, Time(ours, begin), theirs);
  };
  const double open_stock = Time([&] { files.OpenWith(false); }).median;
  add(
      "opening", [&] { files.OpenWith(true); }, open_stock);
  files.Close();
  for (const char* command : {"check", "inspect", "advise", "rewrite --dry-run"}) {
    const std::string line = fmt::format("{} {} --db {} >/dev/null 2>&1", BLOCKSIEVE_COMMAND,
                                         command, files.path().string());
    const auto run = [&] {
      if (std::system(line.c_str()) != 0) Fail("{} failed", line);
    };
    add(command, run, open_stock);
  }
  files.OpenWith(true);
  const double bytes = PeakBytesOf([&] { files.Prune(kAbsentValue); });
  job.results.In("Memory", "")[shape].Add(fmt::format("{} files", size), "bytes", bytes);
  rocksdb::DB* const db = &files.db();
  const double all = Time([&] { delete db->NewIterator({}); }).median;
  for (const char* condition : {kAbsentValue, "v = '17'", "kind = 'k3'"}) {
    add(fmt::format("PruneReads, {}", condition), [&] { files.Prune(condition); });
    const auto scan = [&] {
      std::unique_ptr<SkipScan> rows;
      CheckOk(SkipScan::Create(db, nullptr, condition, {}, &rows), condition);
    };
    add(fmt::format("SkipScan, first row of {}", condition), scan, all);
  }
  const auto new_iterator = [&] {
    std::unique_ptr<rocksdb::Iterator> rows;
    CheckOk(NewIterator(db, nullptr, kAbsentValue, {}, &rows), "NewIterator");
    return rows;
  };
  rocksdb::ReadOptions none;
  const rocksdb_plugin::TableFilter reject = [](const auto&) { return false; };
  rocksdb_plugin::SetTableFilter(reject, &none);
  const auto new_stock = [&] { return std::unique_ptr<rocksdb::Iterator>(db->NewIterator(none)); };
  add("NewIterator", new_iterator, Time(new_stock).median);
  const double visit = Time([&] { new_stock()->SeekToFirst(); }).median;
  add(
      "a whole pruned iteration", [&] { new_iterator()->SeekToFirst(); }, visit);
  const auto list = [&] {
    rocksdb::TablePropertiesCollection properties;
    CheckOk(db->GetPropertiesOfAllTables(&properties), "properties");
    db->GetColumnFamilyMetaData(&metadata);
  };
  const double lists = Time(list).median;
  const std::vector<rocksdb::ColumnFamilyHandle*> families = {db->DefaultColumnFamily()};
  std::vector<std::string> problems;
  add(
      "CheckFilters", [&] { CheckOk(CheckFilters(db, families, &problems), "check"); }, lists);
  std::vector<FilterMetric> metrics;
  add(
      "GetFilterMetrics", [&] { CheckOk(GetFilterMetrics(db, families, &metrics), ""); }, lists);
  // After a flush, it asks RocksDB for the properties of the new file alone.
  const auto flush = [&] { files.Add(1, true); };
  const double metadata_alone = Time([&] { db->GetColumnFamilyMetaData(&metadata); }, flush).median;
  add(
      "PruneReads after a flush", [&] { files.Prune(kAbsentValue); }, metadata_alone, flush);
}

// Conditions of which no value is in any file. One of 1 MiB, the longest, has fewer comparisons
// than it has values of a list.
void MeasureConditions(ManyFiles& files, Growth& growth) {
  for (const bool is_list : {true, false}) {
    for (const uint64_t size : {10, 1'000, is_list ? 100'000 : 50'000}) {
      std::string condition = is_list ? "v IN ('no'" : "v = 'no'";
      for (uint64_t i = 1; i < size; ++i)
        condition += fmt::format("{}'no{}'", is_list ? "," : " OR v = ", i);
      if (is_list) condition += ')';
      growth.Add(is_list ? "v IN (...)" : "v = ... OR v = ...", size,
                 Time([&] { files.Prune(condition); }));
    }
  }
}

bool g_is_met = true;

void Measure(Job& job) {
  const bool quick = job.options.quick;
  job.results.title = "Growth";
  job.results.has_limits = true;  // of exponents, which do not depend on sizes
  job.results.lead =
      "Processor time of all threads, and of commands, by the number of files, whose values are "
      "spread evenly. Exponents follow from the two largest sizes. RocksDB's share is opening "
      "without blocksieve, its lists of files and properties, or an iterator over all files, or "
      "one that leaves them out.";
  Growth conditions{job.results.In("PruneReads, by values in the condition", "Condition")};
  for (const bool is_fifo : {false, true}) {
    const std::string shape = is_fifo ? "FIFO, files on level 0" : "Levelled, files";
    Growth growth{job.results.In(shape, "Processor time")};
    for (const uint64_t size : {quick ? 32 : 100, quick ? 320 : 1'000, quick ? 3'200 : 10'000}) {
      job.progress.Show(fmt::format("filling {} files", size));
      const TempDir dir(job.db_dir);
      ManyFiles files(dir.path(), is_fifo, size, quick ? 100 : 1'000);
      MeasureFiles(files, shape, growth, job);
      if (!is_fifo && size <= 100) MeasureConditions(files, conditions);
    }
    g_is_met &= growth.Finish();
  }
  g_is_met &= conditions.Finish();
}

const JobManual kManual = {
    .benchmark = "scale",
    .description =
        R"(Measures how processor time and memory grow with the number of files, and with the values of a
condition. Exit code 3: something that is not RocksDB's share grows faster than its size to the power
of 1.1.)",
    .quick_help = "fewer files, and of 100 rows instead of 1,000",
};

}  // namespace
}  // namespace blocksieve::bench::scale

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  const int code = RunJob(scale::kManual, argc, argv, scale::Measure);
  return code == 0 && !scale::g_is_met ? scale::kExitMissed : code;
}
