#include "bench/read_amp/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "bench/read_amp/sentence.h"
#include "bench/support/median.h"
#include "bench/support/rocksdb_version.h"
#include "bench/support/text_table.h"
#include "blocksieve/kernels.h"

namespace blocksieve::bench::read_amp {
namespace {

double PerLookup(uint64_t count, const LookupResult& result) {
  return static_cast<double>(count) / static_cast<double>(result.counters.lookups);
}

std::string Blocks(const LookupResult& result) {
  return fmt::format("{:.4f}", PerLookup(result.counters.data_blocks(), result));
}

std::string Wasted(const LookupResult& result) {
  return fmt::format("{:.4f}", PerLookup(result.counters.wasted_data_blocks(), result));
}

std::string Rate(const LookupResult& result) {
  return fmt::format("{:.0f}", Median(result.lookups_per_second));
}

// In percent, with the half width of the 95 % confidence interval of a proportion.
std::string MeasuredFpr(const Counters& counters) {
  if (counters.absent_probes() == 0) return "-";
  const auto probes = static_cast<double>(counters.absent_probes());
  // None seen: below 3 in n with 95 % confidence.
  if (counters.false_positives() == 0) return fmt::format("<{:.1g}", 100 * 3 / probes);
  const double percent = 100 * counters.fpr();
  const double error = 1.96 * std::sqrt(percent * (100 - percent) / probes);
  const int decimals = std::clamp(1 - static_cast<int>(std::floor(std::log10(error))), 0, 9);
  return fmt::format("{:.{}f} +-{:.{}f}", percent, decimals, error, decimals);
}

std::string DescribeLevels(const TreeShape& shape) {
  std::string text;
  for (const LevelShape& level : shape.levels) {
    text += fmt::format("{}L{} {} file{} with {} rows", text.empty() ? "" : ", ", level.level,
                        level.num_files, level.num_files == 1 ? "" : "s", level.num_entries);
  }
  return text;
}

std::string ReadsTable(const Results& results, TreeResult ContestantResult::*tree) {
  TextTable table({"", "filters\nKiB", "bits\nper key", "measured FPR\n%", "absent\nblocks\ncold",
                   "absent\nblocks\nwarm", "present\nblocks\ncold", "present\nblocks\nwarm",
                   "present\nwasted\ncold", "present\nwasted\nwarm"});
  for (const ContestantResult& each : results.contestants) {
    const TreeResult& result = each.*tree;
    const auto bytes = static_cast<double>(result.shape.filter_bytes);
    table.AddRow({each.contestant.name, fmt::format("{:.1f}", bytes / 1024),
                  fmt::format("{:.2f}", 8 * bytes / static_cast<double>(results.num_rows)),
                  MeasuredFpr(result.warm_absent.counters), Blocks(result.cold_absent),
                  Blocks(result.warm_absent), Blocks(result.cold_present),
                  Blocks(result.warm_present), Wasted(result.cold_present),
                  Wasted(result.warm_present)});
  }
  return table.ToString();
}

std::string SpeedTable(const Results& results, TreeResult ContestantResult::*tree,
                       std::vector<double> ContestantResult::*seconds, std::string_view work) {
  TextTable table({"", "absent\ncold\nlookups/s", "present\ncold\nlookups/s",
                   "absent\nwarm\nlookups/s", "present\nwarm\nlookups/s",
                   fmt::format("{}\nseconds", work)});
  for (const ContestantResult& each : results.contestants) {
    const TreeResult& result = each.*tree;
    table.AddRow({each.contestant.name, Rate(result.cold_absent), Rate(result.cold_present),
                  Rate(result.warm_absent), Rate(result.warm_present),
                  fmt::format("{:.2f}", Median(each.*seconds))});
  }
  return table.ToString();
}

bool EverythingWasCached(const Results& results) {
  for (const ContestantResult& each : results.contestants) {
    for (const TreeResult* tree : {&each.leveled, &each.compacted}) {
      if (tree->warm_absent.counters.data_blocks_read > 0 ||
          tree->warm_present.counters.data_blocks_read > 0) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

void PrintReport(const Results& results, const std::filesystem::path& json, std::FILE* out) {
  const ContestantResult& first = results.contestants.front();
  fmt::print(out, "Input: {}\n", results.input);
  fmt::print(out, "RocksDB {}.\n", DescribeRocksDb());
  fmt::print(out,
             "blocksieve probes with its {} kernel. Target FPR {:g} %. {} round{} in {:.0f} s.\n",
             KernelName(ActiveKernel()), 100 * results.target_fpr, results.rounds,
             results.rounds == 1 ? "" : "s", results.seconds);
  fmt::print(
      out,
      "Blocks: data blocks of 4 KiB per lookup of an absent or of a present key. Wasted: the key "
      "was\n"
      "not in it, which for absent keys is all. Cold: every block is read {}. Warm: from\n"
      "{}. Filters and indexes are in memory in both. Speeds and times\n"
      "are medians. FPR: of the warm lookups of absent keys, +- 95 % confidence.\n",
      results.direct_reads ? "with direct I/O" : "from the page cache",
      EverythingWasCached(results) ? "a block cache that holds them all"
                                   : "a block cache of half the memory, too small for all");

  fmt::print(
      out, "\nA tree as RocksDB's default options shape it: {}.\n\n{}\n{}",
      DescribeLevels(first.leveled.shape), ReadsTable(results, &ContestantResult::leveled),
      SpeedTable(results, &ContestantResult::leveled, &ContestantResult::fill_seconds, "fill"));
  fmt::print(out, "\nThe same after compaction of everything: {}.\n\n{}\n{}",
             DescribeLevels(first.compacted.shape),
             ReadsTable(results, &ContestantResult::compacted),
             SpeedTable(results, &ContestantResult::compacted,
                        &ContestantResult::compaction_seconds, "compaction"));
  fmt::print(out, "\nDetails: {}\n{}\n", json.string(), SavedSentence(results));
}

}  // namespace blocksieve::bench::read_amp
