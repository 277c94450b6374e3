#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/rocksdb/maintenance.h"
#include "integration/rocksdb/maintenance/file_report.h"
#include "integration/rocksdb/maintenance/observed_reads.h"

// The metrics of filters, for `blocksieve inspect` and for running processes.

namespace blocksieve::rocksdb_plugin {

/// The list of metrics. Their names are promises, as those of options are.
enum class Metric {
  kFiles,
  kFileBytes,
  kFilterBytes,
  kUnfilteredFiles,
  kPredictedFpr,
  kOrphanSidecars,
  kOrphanSidecarBytes,
  kLookups,
  kFilterProbes,
  kSeeks,
  kSeekBlocks,
  kRangeQueries,
  kPrunedTables,
};
inline constexpr size_t kNumMetrics = 13;

/// `labels`: as Label makes them, separated by commas.
FilterMetric MakeMetric(Metric metric, std::string labels, double value);

/// A label with an escaped value.
std::string Label(const char* name, std::string_view value);

/// Adds the metrics of files, by column family and level. `with_rates`: the filters of the reports
/// were read, so that their rates are known.
void AddFiles(const std::vector<FileReport>& files, bool with_rates,
              std::vector<FilterMetric>* metrics);

void AddReads(const ObservedReads& reads, std::vector<FilterMetric>* metrics);

}  // namespace blocksieve::rocksdb_plugin
