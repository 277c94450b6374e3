// SPDX-License-Identifier: Apache-2.0
// scale: measures how costs grow with the number of files. See kManual.

#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/support/database.h"
#include "bench/support/files.h"
#include "bench/support/job.h"
#include "blocksieve/rocksdb/enable.h"
#include "blocksieve/rocksdb/maintenance.h"
#include "blocksieve/rocksdb/prune_reads.h"
#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/toylsm/log.h"

namespace blocksieve::bench::scale {
namespace {

using Work = std::function<void()>;

constexpr double kMaxExponent = 1.1;  // noise, and caches that all files exceed, look like growth
constexpr int kExitMissed = 3;        // as in bench/run
constexpr const char* kAbsentValue = "v = 'absent'";
constexpr const char* kOneValue = "v = '17'";
constexpr const char* kEverywhere = "kind = 'k3'";

// Processor time of this process and of the commands that it ran, in seconds.
double CpuSeconds() {
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return seconds;
}

// Processor time of `work` in several turns. `begin`: before each turn, and not measured; then a
// turn is one call.
Spread Time(const Work& work, const Work& begin = nullptr) {
  size_t repeats = 1;
  std::vector<double> turns;
  for (double total = 0; turns.size() < 3 || (turns.size() < 15 && total < 1);) {
    CheckInterrupt();
    if (begin) begin();
    const double start = CpuSeconds();
    for (size_t i = 0; i < repeats; ++i) work();
    const double seconds = CpuSeconds() - start;
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
class Growth {
 public:
  Growth(Job& job, const std::string& caption)
      : table_(job.results.In(caption, "Processor time")) {}

  /// `theirs`: RocksDB's share, which is exempt.
  void Add(const std::string& name, uint64_t size, const Spread& turns, double theirs = 0) {
    table_[name].Add(term::WithCommas(size), "s", turns);
    figures_[name][size] = {turns.median - theirs, theirs};
  }

  /// Adds exponents, from the two largest sizes. `aims`: seconds per file at the largest, by name.
  /// Returns whether all exponents are within the limit.
  bool Finish(const std::map<std::string, double>& aims = {}) {
    bool is_met = true;
    for (const auto& [name, by_size] : figures_) {
      const auto& [size, largest] = *by_size.rbegin();
      const auto& [before, smaller] = *std::next(by_size.rbegin());
      const auto [ours, theirs] = largest;
      Line& line = table_[name].Add("RocksDB's share", "share", theirs / (ours + theirs));
      if (ours < 0.1 * theirs || smaller.first <= 0) continue;
      const double exponent = std::log(ours / smaller.first) / std::log(Ratio(size, before));
      line.Add("exponent of ours", "", exponent, NotAbove(kMaxExponent));
      is_met = is_met && exponent <= kMaxExponent;
      if (const auto aim = aims.find(name); aim != aims.end())
        line.Add("ours per file", "s", ours / static_cast<double>(size), NotAbove(aim->second));
    }
    return is_met;
  }

 private:
  Table& table_;
  std::map<std::string, std::map<uint64_t, std::pair<double, double>>> figures_;
};

/// A database of files with a range of keys each, on level 2 or, for FIFO compaction, on level 0.
class ManyFiles : public Database {
 public:
  ManyFiles(std::filesystem::path path, bool is_fifo, uint64_t num_files, uint64_t rows_per_file)
      : Database({"many files", [this, is_fifo](auto& options) { SetUp(is_fifo, options); }}, 0,
                 std::move(path)) {
    OpenWith(true);
    for (uint64_t file = 0; file < num_files; ++file) Add(rows_per_file, is_fifo);
    if (!is_fifo) Add(1, true);
    rocksdb::ColumnFamilyMetaData metadata;
    db().GetColumnFamilyMetaData(&metadata);
    if (is_fifo) return;
    rocksdb::CompactionOptions options;
    options.compression = rocksdb::kNoCompression;
    options.output_file_size_limit = metadata.size / num_files;
    CheckOk(db().CompactFiles(options, {metadata.levels[0].files[0].name}, 2), "compact");
  }

  void OpenWith(bool enabled) {
    Close();
    is_enabled_ = enabled;
    Open(Reads::kCached);
  }

  // Adds rows after all others. Neighbours have unlike values, so that bounds tell nothing.
  void Add(uint64_t num_rows, bool flush) {
    CheckInterrupt();
    Rows rows;
    for (const uint64_t end = num_rows_ + num_rows; num_rows_ < end; ++num_rows_) {
      const uint64_t value = num_rows_ == 0 ? 17 : 100 + num_rows_ * 0x9e3779b1 % 0xffffffff;
      rows.Add(fmt::format("{:012}", num_rows_), fmt::format("{}\tk{}", value, num_rows_ % 16));
    }
    rows.Seal();
    const std::vector<uint32_t> order = KeyOrder(num_rows);
    flush ? PutAndFlush(rows, order) : Put(rows, order);
  }

  std::shared_ptr<ReadPruning> Prune(const std::string& condition) {
    std::shared_ptr<ReadPruning> pruning;
    CheckOk(PruneReads(&db(), nullptr, condition, {}, &pruning), condition);
    return pruning;
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
  const double lists = Time([&] {
                         rocksdb::TablePropertiesCollection properties;
                         CheckOk(db->GetPropertiesOfAllTables(&properties), "properties");
                         db->GetColumnFamilyMetaData(&metadata);
                       }).median;
  for (const char* condition : {kAbsentValue, kOneValue, kEverywhere}) {
    add(fmt::format("PruneReads, {}", condition), [&] { files.Prune(condition); });
    add(fmt::format("SkipScan, first row of {}", condition), [&] {
      std::unique_ptr<SkipScan> scan;
      CheckOk(SkipScan::Create(db, nullptr, condition, {}, &scan), condition);
    });
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
  add(
      "a whole pruned iteration", [&] { new_iterator()->SeekToFirst(); },
      Time([&] { new_stock()->SeekToFirst(); }).median);
  add(
      "CheckFilters",
      [&] {
        std::vector<std::string> problems;
        CheckOk(CheckFilters(db, {db->DefaultColumnFamily()}, &problems), "CheckFilters");
      },
      lists);
  add(
      "GetFilterMetrics",
      [&] {
        std::vector<FilterMetric> metrics;
        CheckOk(GetFilterMetrics(db, {db->DefaultColumnFamily()}, &metrics), "GetFilterMetrics");
      },
      lists);
  add(
      "PruneReads after a flush", [&] { files.Prune(kAbsentValue); }, lists,
      [&] { files.Add(1, true); });
}

// Conditions of which no value is in any file.
void MeasureConditions(ManyFiles& files, Growth& growth) {
  for (const bool is_list : {true, false}) {
    // A condition of 1 MiB, the longest, has fewer comparisons than it has values of a list.
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

class LogFile final : public toylsm::WritableFile {
 public:
  explicit LogFile(std::string* bytes) : bytes_(*bytes) {}
  Status Append(std::string_view data) override {
    bytes_ += data;
    return Status::Ok();
  }
  Status Sync() override { return Status::Ok(); }

 private:
  std::string& bytes_;
};

// Logs with a hole before many records, and with a long record that is torn.
void MeasureLogs(Growth& growth) {
  for (const uint64_t megabytes : {1, 4, 16}) {
    for (const bool has_hole : {true, false}) {
      const std::string value(has_hole ? 100 : megabytes << 20, 'v');
      std::string bytes;
      toylsm::LogWriter log(std::make_unique<LogFile>(&bytes), 7);
      while (bytes.size() < megabytes << 20) {
        if (!log.Append({.key = "key", .value = value}).ok()) Fail("writing a log failed");
      }
      bytes[bytes.size() / (has_hole ? 1'000 : 1) - 1] ^= 1;
      const auto recover = [&] {
        if (!toylsm::ReadLog(AsBytes(bytes), 7, [](const auto&) {}).ok()) Fail("a log is refused");
      };
      growth.Add(has_hole ? "a hole" : "a torn record", megabytes, Time(recover));
    }
  }
}

bool g_is_met = true;

void Measure(Job& job) {
  const bool quick = job.options.quick;
  const uint64_t rows_per_file = quick ? 100 : 1'000;
  job.results.title = "Growth";
  job.results.lead = fmt::format(
      "Processor time of all threads, and of commands, by the number of files. Exponents follow "
      "from the two largest sizes. Files have {} rows, whose values are spread evenly. RocksDB's "
      "share is opening without blocksieve, its lists of files and properties, or an iterator that "
      "leaves out all files.",
      rows_per_file);
  Growth conditions(job, "PruneReads, by the number of values in the condition");
  for (const bool is_fifo : {false, true}) {
    const std::string shape = is_fifo ? "FIFO, files on level 0" : "Levelled, files";
    Growth growth(job, shape);
    for (const uint64_t size : {quick ? 32 : 100, quick ? 320 : 1'000, quick ? 3'200 : 10'000}) {
      job.progress.Show(fmt::format("filling {} files", size));
      const TempDir dir(job.db_dir);
      ManyFiles files(dir.path(), is_fifo, size, rows_per_file);
      MeasureFiles(files, shape, growth, job);
      if (!is_fifo && size <= 100) MeasureConditions(files, conditions);
    }
    g_is_met &= growth.Finish({{fmt::format("PruneReads, {}", kAbsentValue), 200e-6 / 3'200},
                               {fmt::format("PruneReads, {}", kOneValue), 400e-6 / 3'200}});
  }
  Growth logs(job, "Recovery of the toy LSM, by MiB of a torn log");
  MeasureLogs(logs);
  g_is_met &= conditions.Finish();
  g_is_met &= logs.Finish();
}

const JobManual kManual = {
    .benchmark = "scale",
    .description =
        R"(Measures how processor time and memory grow with the number of files, with the values of a
condition, and with the length of torn logs of the toy LSM. Exit code 3: something that is not
RocksDB's share grows faster than its size to the power of 1.1.)",
    .quick_help = "fewer files, and of fewer rows",
};

}  // namespace
}  // namespace blocksieve::bench::scale

int main(int argc, char** argv) {
  using namespace blocksieve::bench;
  const int code = RunJob(scale::kManual, argc, argv, scale::Measure);
  return code == 0 && !scale::g_is_met ? scale::kExitMissed : code;
}
