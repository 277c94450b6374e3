#include "bench/scale/report.h"

#include <fmt/format.h>

#include "bench/scale/model.h"
#include "bench/scale/targets.h"
#include "bench/scale/tree_model.h"
#include "bench/support/text_table.h"
#include "blocksieve/kernels.h"

namespace blocksieve::bench::scale {
namespace {

std::string FilterTable(const Results& results) {
  TextTable table({"filter", "keys", "bits\nper key", "FPR", "build\nns per key", "absent key\nns",
                   "peak memory\nbytes per key", "keys\ndenied"});
  for (const FilterResult& filter : results.filters) {
    table.AddRow(
        {std::string(FilterKindName(filter.kind)), fmt::format("{}", filter.keys),
         fmt::format("{:.3f}", filter.bits_per_key()), fmt::format("{:.4f} %", 100 * filter.fpr),
         fmt::format("{:.1f}", filter.build_ns_per_key), fmt::format("{:.1f}", filter.absent_ns),
         fmt::format("{:.2f}", static_cast<double>(filter.peak_build_bytes) /
                                   static_cast<double>(filter.keys)),
         fmt::format("{}", filter.false_negatives)});
  }
  return table.ToString();
}

std::string TreeTable(const Results& results) {
  TextTable table({"asked for", "keys", "files", "bits\nper key", "wasted reads\nper lookup"});
  for (const TreeResult& tree : results.trees) {
    table.AddRow({tree.asked, fmt::format("{}", tree.keys), fmt::format("{}", tree.files),
                  fmt::format("{:.3f}",
                              8 * static_cast<double>(tree.bytes) / static_cast<double>(tree.keys)),
                  fmt::format("{:.5f}", tree.wasted_reads)});
  }
  return table.ToString();
}

std::string AnalysisTable(const Results& results) {
  TextTable table({"files", "granules", "index bytes\nper row", "analysis\nus", "per file\nus"});
  for (const AnalysisResult& analysis : results.analyses) {
    table.AddRow({fmt::format("{}", analysis.files), fmt::format("{}", analysis.granules),
                  fmt::format("{:.3f}", static_cast<double>(analysis.bytes) /
                                            static_cast<double>(analysis.rows)),
                  fmt::format("{:.2f}", 1e6 * analysis.seconds),
                  fmt::format("{:.3f}", 1e6 * analysis.seconds_per_file())});
  }
  return table.ToString();
}

}  // namespace

void PrintReport(const Results& results, const std::filesystem::path& json) {
  fmt::print(
      "Filters of keys of 16 bytes, at 1 %, each built in a process of its own; blocksieve uses "
      "its "
      "{} kernel. {:.0f} s.\n\n{}\n"
      "All filters of trees of size ratio {}, levels of files of up to {} keys\n\n{}\n"
      "Skip indexes of files of so many rows, open and in memory: analysis for one value\n\n{}\n{}"
      "\nComputed for 10^6 to 10^12 keys, in: {}\n",
      KernelName(ActiveKernel()), results.seconds, FilterTable(results), kSizeRatio, kKeysPerFile,
      TreeTable(results), AnalysisTable(results), JudgeTargets(results).ToText(), json.string());
}

}  // namespace blocksieve::bench::scale
