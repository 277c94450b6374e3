// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/maintenance/metrics.h"

#include <rocksdb/db.h>
#include <rocksdb/statistics.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "integration/rocksdb/compat/column_families.h"
#include "integration/rocksdb/compat/open_databases.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/levels/filter_budget.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/base/errors.h"

namespace blocksieve {
namespace rocksdb_plugin {
namespace {

// Counters are read one after the other while others grow.
uint64_t Difference(uint64_t all, uint64_t part) { return all - std::min(all, part); }

struct MetricInfo {
  const char* name;
  const char* type;
  const char* help;
};

// Their names are promises, as those of options are.
constexpr MetricInfo kFiles = {"blocksieve_files", "gauge",
                               "SST files, by who built their filters."};
constexpr MetricInfo kFileBytes = {"blocksieve_file_bytes", "gauge",
                                   "Bytes of SST files, by who built their filters."};
constexpr MetricInfo kFilterBytes = {"blocksieve_filter_bytes", "gauge",
                                     "Bytes of the filters of SST files."};
constexpr MetricInfo kUnfilteredFiles = {"blocksieve_files_without_filter", "gauge",
                                         "SST files with keys but no working filter."};
constexpr MetricInfo kPredictedFpr = {
    "blocksieve_predicted_fpr", "gauge",
    "False-positive rate of the filters by their model, the mean over keys; 1 without filters."};
constexpr MetricInfo kLookups = {"blocksieve_lookups_total", "counter",
                                 "Keys of Get and MultiGet, by result."};
constexpr MetricInfo kFilterProbes = {
    "blocksieve_filter_probes_total", "counter",
    "Probes of filters by lookups, by result. A false positive wastes a read of a data block."};
constexpr MetricInfo kSeeks = {"blocksieve_seeks_total", "counter", "Seeks of iterators."};
constexpr MetricInfo kSeekBlocks = {
    "blocksieve_seek_blocks_total", "counter",
    "Data blocks for seeks, one per sorted run: with a row for the seek, without, or ruled out."};
constexpr MetricInfo kMemoryLimit = {
    "blocksieve_filter_memory_limit_bytes", "gauge",
    "filter_memory: ceiling of all column families with this budget."};
constexpr MetricInfo kMemoryUsed = {
    "blocksieve_filter_memory_used_bytes", "gauge",
    "Filters and block indexes of the column family, with files that are being written."};
constexpr MetricInfo kMemoryShare = {"blocksieve_filter_memory_share_bytes", "gauge",
                                     "Part of the ceiling that the column family is planned with."};
constexpr MetricInfo kPlannedWastedReads = {
    "blocksieve_planned_wasted_reads", "gauge",
    "Wasted reads per lookup of an absent key once all filters are as filter_memory plans."};
constexpr MetricInfo kRangeQueries = {
    "blocksieve_range_queries_total", "counter",
    "Range queries to filters by all databases of the process, by result."};

FilterMetric MakeMetric(const MetricInfo& metric, std::string labels, double value) {
  return {metric.name, metric.type, metric.help, std::move(labels), value};
}

// A label with an escaped value.
std::string Label(const char* name, std::string_view value) {
  std::string text = std::string(name) + "=\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? "\\n" : std::string(1, c);
  }
  return text + '"';
}

void AddReads(const ObservedReads& reads, std::vector<FilterMetric>* metrics) {
  const auto add = [&](const MetricInfo& metric, const char* result,
                       std::optional<uint64_t> value) {
    if (!value) return;
    metrics->push_back(MakeMetric(metric, result[0] == '\0' ? "" : Label("result", result),
                                  static_cast<double>(*value)));
  };
  add(kLookups, "memtable", reads.in_memtables);
  add(kLookups, "found", reads.found);
  if (reads.lookups && reads.found) {
    add(kLookups, "absent", Difference(*reads.lookups, *reads.found));
  }
  add(kFilterProbes, "ruled_out", reads.ruled_out);
  add(kFilterProbes, "false_positive", reads.false_positives);
  add(kFilterProbes, "true_positive", reads.true_positives);
  add(kSeeks, "", reads.seeks);
  if (!reads.seek_blocks) return;
  add(kSeekBlocks, "useful", reads.seek_blocks->useful);
  add(kSeekBlocks, "useless", reads.seek_blocks->useless);
  add(kSeekBlocks, "ruled_out", reads.seek_blocks->ruled_out);
}

void AddShares(rocksdb::DB* db, std::vector<FilterMetric>* metrics) {
  for (const FilterShare& share : ReadFilterShares(OpenDatabase(db))) {
    const std::string family = Label("column_family", share.family);
    const std::string budget = share.budget.empty() ? "" : "," + Label("budget", share.budget);
    const auto add = [&](const MetricInfo& metric, auto value) {
      metrics->push_back(MakeMetric(metric, family + budget, static_cast<double>(value)));
    };
    add(kMemoryLimit, share.max_bytes);
    add(kMemoryUsed, share.num_bytes);
    add(kMemoryShare, share.share_bytes);
    add(kPlannedWastedReads, share.wasted_reads);
  }
}

}  // namespace

ObservedReads ObserveReads(const Tickers& tickers) {
  ObservedReads reads;
  const auto count = [&](const std::string& name) {
    const auto found = tickers.find("rocksdb." + name);
    return found == tickers.end() ? 0 : found->second;
  };
  const auto sum = [&](std::initializer_list<const char*> names) {
    const size_t num_missing = reads.missing.size();
    uint64_t total = 0;
    for (const std::string name : names) {
      total += count(name);
      if (!tickers.contains("rocksdb." + name)) reads.missing.push_back("rocksdb." + name);
    }
    return reads.missing.size() == num_missing ? std::optional(total) : std::nullopt;
  };
  const auto keys = sum({"number.keys.read"});
  // Some sources leave out counters that are 0.
  reads.in_memtables =
      tickers.contains("rocksdb.memtable.miss") ? count("memtable.hit") : sum({"memtable.hit"});
  if (keys && reads.in_memtables) {
    reads.lookups = Difference(*keys + count("number.multiget.keys.read"), *reads.in_memtables);
  }
  reads.found = sum({"l0.hit", "l1.hit", "l2andup.hit"});
  reads.seeks = sum({"number.db.seek"});
  reads.ruled_out = sum({"bloom.filter.useful"});
  const auto positives = sum({"bloom.filter.full.positive"});
  reads.true_positives = sum({"bloom.filter.full.true.positive"});
  if (positives && reads.true_positives) {
    reads.false_positives = Difference(*positives, *reads.true_positives);
  }
  if (!tickers.contains("rocksdb.last.level.seek.data")) return reads;
  ObservedSeeks& seeks = reads.seek_blocks.emplace();
  for (const std::string level : {"last.level.seek.", "non.last.level.seek."}) {
    const uint64_t useful =
        count(level + "data.useful.no.filter") + count(level + "data.useful.filter.match");
    seeks.useful += useful;
    seeks.useless += Difference(count(level + "data"), useful);
    seeks.ruled_out += count(level + "filtered");
  }
  return reads;
}

void AddFiles(const std::vector<FileReport>& files, bool with_rates,
              std::vector<FilterMetric>* metrics) {
  std::map<std::pair<const MetricInfo*, std::string>, double> sums;  // by labels
  std::map<std::string, double> num_entries;                         // by labels of levels
  for (const FileReport& file : files) {
    const std::string family = Label("column_family", file.place.family);
    const std::string level = family + "," + Label("level", std::to_string(file.place.level));
    const std::string by_filter = level + "," + Label("filter", OriginName(file.filter.origin));
    const auto entries = static_cast<double>(file.num_entries);
    ++sums[{&kFiles, by_filter}];
    sums[{&kFileBytes, by_filter}] += static_cast<double>(file.num_bytes);
    sums[{&kFilterBytes, level}] += static_cast<double>(file.filter.num_bytes);
    sums[{&kUnfilteredFiles, family}] += IsUnfiltered(file);
    if (!with_rates || file.num_entries == 0) continue;
    sums[{&kPredictedFpr, level}] += entries * file.fpr();
    num_entries[level] += entries;
  }
  for (const auto& [key, sum] : sums) {
    const auto& [metric, labels] = key;
    const double value = metric == &kPredictedFpr ? sum / num_entries[labels] : sum;
    metrics->push_back(MakeMetric(*metric, labels, value));
  }
}

void LabelDatabase(const std::string& name, std::vector<FilterMetric>* metrics) {
  const std::string database = Label("database", name);
  for (FilterMetric& metric : *metrics) {
    metric.labels = database + (metric.labels.empty() ? "" : ",") + metric.labels;
  }
}

}  // namespace rocksdb_plugin

using namespace rocksdb_plugin;  // NOLINT: the same component

std::string FilterMetricsText(const std::vector<FilterMetric>& metrics) {
  std::vector<FilterMetric> sorted = metrics;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::string_view(a.name) < std::string_view(b.name);
  });
  std::string text;
  std::string last;
  for (const FilterMetric& metric : sorted) {
    const std::string name = metric.name;
    if (std::exchange(last, name) != name) {
      text += "# HELP " + name + " " + metric.help + "\n# TYPE " + name + " " + metric.type + "\n";
    }
    text += name + (metric.labels.empty() ? "" : "{" + metric.labels + "}") + " " +
            ToText(metric.value) + "\n";
  }
  return text;
}

rocksdb::Status GetFilterMetrics(rocksdb::DB* db,
                                 const std::vector<rocksdb::ColumnFamilyHandle*>& column_families,
                                 std::vector<FilterMetric>* metrics) {
  return PublicCall({{"db", db}, {"metrics", metrics}}, [&]() -> rocksdb::Status {
    metrics->clear();
    std::vector<rocksdb::ColumnFamilyHandle*> families = column_families;
    BLOCKSIEVE_RETURN_IF_ERROR(ResolveFamilies(db, &families));
    for (rocksdb::ColumnFamilyHandle* const family : families) {
      std::vector<FileReport> files;
      BLOCKSIEVE_RETURN_IF_ERROR(ReadLiveFiles(db, family, FileParts::kNames, &files));
      AddFiles(files, /*with_rates=*/false, metrics);
    }
    Tickers tickers;
    const auto statistics = db->GetDBOptions().statistics;
    if (statistics != nullptr && statistics->getTickerMap(&tickers)) {
      AddReads(ObserveReads(tickers), metrics);
    }
    AddShares(db, metrics);
    LabelDatabase(db->GetName(), metrics);
    const RangeFilterCounts counts = GetRangeFilterCounts();
    for (const auto& [result, count] : kRangeResults) {
      metrics->push_back(
          MakeMetric(kRangeQueries, Label("result", result), static_cast<double>(counts.*count)));
    }
    return rocksdb::Status::OK();
  });
}

}  // namespace blocksieve
