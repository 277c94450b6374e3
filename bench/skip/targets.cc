#include "bench/skip/targets.h"

#include <fmt/format.h>

#include "blocksieve/granule_index_builder.h"

namespace blocksieve::bench::skip {
namespace {

bool HasDefaultGranules(const ScanResult& scan) { return scan.granule_rows == kDefaultGranuleRows; }

void JudgeScans(const Results& results, Targets& targets) {
  for (const bool is_rewritten : {false, true}) {
    for (const ScanResult& scan : results.scans) {
      if (!scan.is_clustered || !HasDefaultGranules(scan) || scan.is_rewritten != is_rewritten) {
        continue;
      }
      targets.AtMost(fmt::format("blocks read, against the oracle: {} rows, {}, {}", scan.dataset,
                                 scan.column, is_rewritten ? "a fifth rewritten" : "compacted"),
                     scan.against_oracle(), is_rewritten ? 1.6 : 1.25, " x");
    }
  }
  for (const ScanResult& scan : results.fpr_scans) {
    if (scan.is_clustered) continue;
    targets.AtMost(fmt::format("granules read in vain, against target FPR: {} rows, {}",
                               scan.dataset, scan.column),
                   scan.against_target_fpr(), 1.05, " x");
  }
  for (const ScanResult& scan : results.scans) {
    if (scan.dataset != "synthetic" || scan.is_clustered || scan.is_rewritten ||
        !HasDefaultGranules(scan)) {
      continue;
    }
    targets.AtMostOneIn("blocks read, against a full scan: value in 1 of 1,000 granules, FPR 0.1 %",
                        scan.against_full_scan(), 300);
  }
}

void JudgeAnalyses(const Results& results, Targets& targets) {
  for (const AnalysisResult& analysis : results.analyses) {
    if (analysis.granules != 1'000 && analysis.granules != 300'000) continue;
    const std::string what =
        fmt::format("{} granules of {} values", analysis.granules, analysis.distinct_values);
    targets.AtLeast("analysis, times as fast as filter by filter: " + what, analysis.times_faster(),
                    analysis.granules == 1'000 ? 20 : 300, " x");
    if (analysis.granules == 1'000) {
      targets.AtMost("analysis, time: " + what, analysis.nanoseconds / 1'000, 1, " us");
    }
  }
}

void JudgeSizes(const Results& results, Targets& targets) {
  for (const IndexSizeResult& size : results.sizes) {
    const bool is_default = size.granule_rows == kDefaultGranuleRows;
    if (!is_default && size.granule_rows != 1'024) continue;
    targets.AtMost(
        fmt::format("index bits per distinct value, FPR 1 %: {} rows, {}, granules of {}",
                    size.dataset, size.column, size.granule_rows),
        size.bits_per_value(), is_default ? 12 : 10.5);
  }
}

void JudgeWrites(const Results& results, Targets& targets) {
  for (const WriteCostResult& write : results.writes) {
    const std::string what = fmt::format("{} rows, {}", write.dataset, write.column);
    targets.AtMost("time to fill, against no index: " + what, write.times_seconds(), 1.1, " x");
    targets.AtMost("processor time to fill, against no index: " + what, write.times_cpu_seconds(),
                   1.1, " x");
  }
}

}  // namespace

Targets JudgeTargets(const Results& results) {
  Targets targets;
  JudgeScans(results, targets);
  JudgeAnalyses(results, targets);
  JudgeSizes(results, targets);
  JudgeWrites(results, targets);
  return targets;
}

}  // namespace blocksieve::bench::skip
