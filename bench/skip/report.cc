#include "bench/skip/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "bench/skip/targets.h"
#include "bench/support/median.h"
#include "bench/support/rocksdb_version.h"
#include "bench/support/text_table.h"
#include "blocksieve/granule_index_builder.h"
#include "blocksieve/kernels.h"

namespace blocksieve::bench::skip {
namespace {

double PerQuery(double sum, const ScanResult& scan) {
  return sum / static_cast<double>(scan.queries);
}

std::string_view State(const ScanResult& scan) {
  return scan.is_rewritten ? "a fifth rewritten" : "compacted";
}

std::string ScanTable(const Results& results) {
  TextTable table({"rows, column, state", "values\nasked for", "matching\nrows", "blocks:\noracle",
                   "granules'\nown", "\nread", "\n/ oracle", "\nfull scan", "\n1 of", "ms:\nread",
                   "\nfull scan"});
  for (const ScanResult& scan : results.scans) {
    if (scan.granule_rows != kDefaultGranuleRows) continue;
    table.AddRow({fmt::format("{}, {}, {}", scan.dataset, scan.column, State(scan)),
                  fmt::format("{}", scan.queries),
                  fmt::format("{:.1f}", PerQuery(static_cast<double>(scan.rows), scan)),
                  fmt::format("{:.1f}", scan.oracle_per_query()),
                  fmt::format("{:.1f}", scan.granule_blocks_per_query()),
                  fmt::format("{:.1f}", scan.blocks_per_query()),
                  fmt::format("{:.2f}", scan.against_oracle()), fmt::format("{}", scan.all_blocks),
                  fmt::format("{:.0f}", 1 / scan.against_full_scan()),
                  fmt::format("{:.2f}", 1'000 * PerQuery(scan.seconds, scan)),
                  fmt::format("{:.0f}", 1'000 * scan.full_scan_seconds)});
  }
  return table.ToString();
}

std::string GranuleTable(const Results& results) {
  TextTable table({"rows, column, state", "rows of\na granule", "granules", "blocks:\noracle",
                   "granules'\nown", "\nread", "\n/ oracle"});
  for (const ScanResult& scan : results.scans) {
    table.AddRow({fmt::format("{}, {}, {}", scan.dataset, scan.column, State(scan)),
                  fmt::format("{}", scan.granule_rows), fmt::format("{}", scan.granules),
                  fmt::format("{:.1f}", scan.oracle_per_query()),
                  fmt::format("{:.1f}", scan.granule_blocks_per_query()),
                  fmt::format("{:.1f}", scan.blocks_per_query()),
                  fmt::format("{:.2f}", scan.against_oracle())});
  }
  return table.ToString();
}

std::string AnalysisTable(const Results& results) {
  TextTable table({"granules x values", "index\nus", "filter by\nfilter us", "times\nas fast",
                   "index\nKiB touched", "all\nfilters KiB"});
  for (const AnalysisResult& each : results.analyses) {
    table.AddRow({fmt::format("{} x {}", each.granules, each.distinct_values),
                  fmt::format("{:.3f}", each.nanoseconds / 1'000),
                  fmt::format("{:.1f}", each.separate_nanoseconds / 1'000),
                  fmt::format("{:.0f}", each.times_faster()),
                  fmt::format("{:.1f}", static_cast<double>(each.probe_bytes) / 1'024),
                  fmt::format("{:.0f}", static_cast<double>(each.separate_bytes) / 1'024)});
  }
  return table.ToString();
}

std::string SizeTable(const Results& results) {
  TextTable table({"rows, column", "rows of\na granule", "distinct\nper granule", "bits per\nvalue",
                   "filters", "bounds", "keys"});
  for (const IndexSizeResult& size : results.sizes) {
    const auto bits = [&](uint64_t bytes) {
      return fmt::format(
          "{:.2f}", 8 * static_cast<double>(bytes) / static_cast<double>(size.distinct_values));
    };
    table.AddRow(
        {fmt::format("{}, {}", size.dataset, size.column), fmt::format("{}", size.granule_rows),
         fmt::format("{:.1f}", static_cast<double>(size.distinct_values) /
                                   static_cast<double>(size.granules)),
         bits(size.bytes), bits(size.filter_bytes), bits(size.bounds_bytes), bits(size.key_bytes)});
  }
  return table.ToString();
}

std::string WriteTable(const Results& results) {
  TextTable table({"rows, column", "fill s:\nnone", "\nindex", "\nratio", "processor s:\nnone",
                   "\nindex", "\nratio"});
  for (const WriteCostResult& write : results.writes) {
    table.AddRow({fmt::format("{}, {}", write.dataset, write.column),
                  fmt::format("{:.3f}", Median(write.seconds_without)),
                  fmt::format("{:.3f}", Median(write.seconds_with)),
                  fmt::format("{:.3f}", write.times_seconds()),
                  fmt::format("{:.3f}", Median(write.cpu_seconds_without)),
                  fmt::format("{:.3f}", Median(write.cpu_seconds_with)),
                  fmt::format("{:.3f}", write.times_cpu_seconds())});
  }
  return table.ToString();
}

}  // namespace

std::string SavedSentence(const Results& results) {
  const ScanResult& scan =
      *std::find_if(results.scans.begin(), results.scans.end(), [](const ScanResult& each) {
        return each.is_clustered && !each.is_rewritten && each.granule_rows == kDefaultGranuleRows;
      });
  const std::string what = fmt::format(
      "of the {} data blocks a scan for \"{}\" read {:.3g} with the index, where {:.3g} hold a "
      "matching row",
      scan.all_blocks, scan.column, scan.blocks_per_query(), scan.oracle_per_query());
  if (scan.against_full_scan() >= 1) return fmt::format("Nothing was saved: {}.", what);
  return fmt::format(
      "Saved: {:.2f} % of the reads: {}, which made it {:.0f} times as fast on a "
      "cold cache.",
      100 * (1 - scan.against_full_scan()), what,
      scan.full_scan_seconds * static_cast<double>(scan.queries) / scan.seconds);
}

void PrintReport(const Results& results, const std::filesystem::path& json, std::FILE* out) {
  for (const std::string& input : results.inputs) fmt::print(out, "Input: {}\n", input);
  fmt::print(out, "RocksDB {}.\n", DescribeRocksDb());
  fmt::print(out, "blocksieve uses its {} kernel. {:.0f} s.\n", KernelName(ActiveKernel()),
             results.seconds);
  fmt::print(
      out,
      "\nScans for one value, granules of {} rows, FPR {:g} % per granule. Means per value. "
      "Blocks: data\nblocks of 4 KiB, read {} with an empty block cache, counted by "
      "RocksDB.\nOracle: the different blocks that hold a row of the answer; granules' own: those "
      "of granules that\nhold one. Every answer was compared with the right one.\n\n{}",
      kDefaultGranuleRows, 100 * results.scans.front().target_fpr,
      results.direct_reads ? "with direct I/O" : "from the page cache", ScanTable(results));
  fmt::print(out, "\nThe same by size of granules:\n\n{}", GranuleTable(results));
  fmt::print(out,
             "\nAnalysis of an index in memory for one value, FPR 1 %, against the same classic "
             "Bloom filters asked\none after the other (hashed once, contiguous, prefetched):\n\n"
             "{}",
             AnalysisTable(results));
  fmt::print(out, "\nIndex of one column at FPR 1 %, bits per distinct value of a granule:\n\n{}",
             SizeTable(results));
  fmt::print(out,
             "\nWriting all rows in random order, flushing and compacting them; medians of {} "
             "turns:\n\n{}",
             results.writes.front().seconds_with.size(), WriteTable(results));
  fmt::print(out, "\n{}Details: {}\n{}\n", JudgeTargets(results).ToText(), json.string(),
             SavedSentence(results));
}

}  // namespace blocksieve::bench::skip
