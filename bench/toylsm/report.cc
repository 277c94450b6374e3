#include "bench/toylsm/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/support/text_table.h"
#include "blocksieve/kernels.h"

namespace blocksieve::bench::toy {
namespace {

std::string Mean(const LookupCounts& counts, uint64_t count) {
  return fmt::format("{:.4f}", counts.PerLookup(count));
}

std::string LookupTable(const Results& results, LookupCounts LookupResult::*kind) {
  TextTable table({"", "data blocks:\nall", "\nfrom disk", "filter blocks:\nall", "\nfrom disk",
                   "bytes:\nfrom disk", "\nfrom cache", "false\npositives"});
  for (const LookupResult& each : results.lookups) {
    const LookupCounts& counts = each.*kind;
    table.AddRow({each.filters, Mean(counts, counts.data_blocks()),
                  Mean(counts, counts.data_blocks_disk), Mean(counts, counts.filter_blocks()),
                  Mean(counts, counts.filter_blocks_disk),
                  fmt::format("{:.0f}", counts.PerLookup(counts.bytes_disk)),
                  fmt::format("{:.0f}", counts.PerLookup(counts.bytes_cache)),
                  Mean(counts, counts.false_positives)});
  }
  return table.ToString();
}

std::string SizeTable(const Results& results) {
  TextTable table({"", "filters\nKiB", "bits\nper key", "block indexes\nKiB",
                   "in the cache:\nall filters KiB", "after 1 % of\nthe keys KiB", "share\n%"});
  for (const LookupResult& each : results.lookups) {
    const auto kib = [](double bytes) { return fmt::format("{:.1f}", bytes / 1'024); };
    const auto filter_bytes = static_cast<double>(each.filter_bytes);
    table.AddRow(
        {each.filters, kib(filter_bytes),
         fmt::format("{:.2f}", 8 * filter_bytes / static_cast<double>(results.num_rows)),
         kib(static_cast<double>(each.block_index_bytes)),
         kib(static_cast<double>(each.filter_memory_bytes)), kib(each.resident_filter_bytes),
         each.filter_bytes == 0 ? "-" : fmt::format("{:.2f}", 100 * each.resident_share())});
  }
  return table.ToString();
}

std::string ScanTable(const Results& results) {
  TextTable table({"column, tree", "runs", "values\nasked for", "matching\nrows",
                   "data blocks:\noracle", "\nwith index", "\n/ oracle", "\nwithout",
                   "value index\nKiB"});
  for (const ScanResult& scan : results.scans) {
    table.AddRow({fmt::format("{}, {}", scan.column, scan.state), fmt::format("{}", scan.runs),
                  fmt::format("{}", scan.queries), fmt::format("{:.1f}", scan.PerQuery(scan.rows)),
                  fmt::format("{:.1f}", scan.oracle_per_query()),
                  fmt::format("{:.1f}", scan.blocks_per_query()),
                  fmt::format("{:.3f}", scan.against_oracle()), fmt::format("{}", scan.all_blocks),
                  fmt::format("{:.1f}", static_cast<double>(scan.value_index_bytes) / 1'024)});
  }
  return table.ToString();
}

}  // namespace

Targets JudgeTargets(const Results& results) {
  Targets targets;
  for (const LookupResult& each : results.lookups) {
    if (each.target_fpr == 0) continue;
    targets.AtMost(fmt::format("data blocks read in vain per absent key, against FPR x {} runs: {}",
                               each.runs, each.filters),
                   each.against_target_fpr(), 1.05, " x");
  }
  for (const ScanResult& scan : results.scans) {
    targets.AtMost(
        fmt::format("data blocks read, against the oracle: {}, {}", scan.column, scan.state),
        scan.against_oracle(), 1.15, " x");
  }
  for (const LookupResult& each : results.lookups) {
    if (!each.is_granular) continue;
    targets.AtMost("filter bytes in the cache after 1 % of the keys: " + each.filters,
                   100 * each.resident_share(), 3, " %");
  }
  return targets;
}

std::string SavedSentence(const Results& results) {
  const LookupCounts& without = results.lookups.front().absent;
  const LookupResult& granular =
      *std::find_if(results.lookups.begin(), results.lookups.end(),
                    [](const LookupResult& each) { return each.is_granular; });
  const LookupCounts& with = granular.absent;
  const ScanResult& scan = results.scans.front();
  const bool saved = with.data_blocks() < without.data_blocks() &&
                     scan.blocks_per_query() < static_cast<double>(scan.all_blocks);
  return fmt::format(
      "{}: a lookup of an absent key read {:.3g} data blocks with filters ({}) and {:.3g} without, "
      "a scan for \"{}\" {:.3g} with a value index and {} without.",
      saved ? "Saved" : "Not everything was saved that could be",
      with.PerLookup(with.data_blocks()), granular.filters,
      without.PerLookup(without.data_blocks()), scan.column, scan.blocks_per_query(),
      scan.all_blocks);
}

void PrintReport(const Results& results, const std::filesystem::path& json, std::FILE* out) {
  fmt::print(out, "Input: {}\n", results.input);
  fmt::print(out, "The toy LSM; blocksieve uses its {} kernel. {:.0f} s.\n",
             KernelName(ActiveKernel()), results.seconds);
  fmt::print(out,
             "\nRows written in random order: {} runs (files of level 0, and levels below it). "
             "Means per lookup, with\na block cache of {:.1f} MB for {:.1f} MB of keys and values, "
             "empty at the beginning. Filters of FPR 1 %\non all levels.\n\nAbsent keys\n\n{}\n"
             "Present keys\n\n{}\n{}",
             results.lookups.front().runs, static_cast<double>(results.cache_bytes) / 1e6,
             static_cast<double>(results.row_bytes) / 1e6,
             LookupTable(results, &LookupResult::absent),
             LookupTable(results, &LookupResult::present), SizeTable(results));
  fmt::print(out,
             "\nScans for one value; means per value, with nothing cached. Oracle: the different "
             "data blocks that hold\na row of the answer. Every answer was compared with the right "
             "one.\n\n{}",
             ScanTable(results));
  fmt::print(out, "\n{}Details: {}\n{}\n", JudgeTargets(results).ToText(), json.string(),
             SavedSentence(results));
}

}  // namespace blocksieve::bench::toy
