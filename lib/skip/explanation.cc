// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string>
#include <utility>

#include "blocksieve/scan.h"

namespace blocksieve {
namespace {

/// "1,234,567", like numbers in the command's output.
std::string Commas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

/// "selected/total", as EXPLAIN indexes = 1 of ClickHouse writes it.
std::string Ratio(uint64_t selected, uint64_t total) {
  return Commas(selected) + "/" + Commas(total);
}

}  // namespace

std::string ScanExplanation::ToText() const {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  if (is_full_scan) {
    text << "full scan: " << full_scan_reason << "\n";
  } else {
    text << "skip scan\n";
  }
  for (const ComparisonExplanation& one : comparisons) {
    text << "comparison " << one.comparison << ": " << (one.is_used ? "used" : "not used") << ", "
         << one.reason;
    if (one.num_files != 0) {
      text << "; files with index " << Ratio(one.num_files, num_files) << ", granules ";
      const bool is_counted = one.is_used && one.granules_selected != 0;
      text << (is_counted ? Ratio(one.granules_selected, one.num_granules)
                          : Commas(one.num_granules));
    }
    text << "\n";
  }
  for (const ColumnExplanation& column : columns) {
    text << "column " << column.name << ": " << Commas(column.num_probes) << " probes, at most "
         << Commas(column.index_bytes) << " bytes of index; filters";
    const char* separator = ": ";
    for (const std::string& form : column.filters) {
      text << std::exchange(separator, ", ") << form;
      const std::string_view reason = FiltersReason(form);
      if (!reason.empty()) text << " (" << reason << ")";
    }
    text << "\n";
  }
  if (num_files != 0) {
    text << "files: " << Ratio(num_files - files_pruned, num_files) << ", pruned "
         << Commas(files_pruned) << " (newer than the snapshot " << Commas(files_too_new)
         << "), without a usable index " << Commas(files_without_index) << ", compacted away "
         << Commas(files_vanished);
    if (files_not_reached != 0) text << ", not reached " << Commas(files_not_reached);
    text << "\n";
    text << "granules: " << Ratio(granules_selected, num_granules) << " (always match "
         << Commas(granules_always_match) << "), newer than the snapshot "
         << Commas(granules_too_new) << "\n";
    if (granules_counted != 0)
      text << "granules counted without reading: " << Commas(granules_counted) << "\n";
    if (granules_read != 0)
      text << "granules read in the order of their bounds: " << Commas(granules_read) << "\n";
    text << "index bytes touched: " << Commas(index_bytes_touched) << "\n";
  }
  for (const std::string& problem : file_problems) text << "file " << problem << "\n";
  text << "read: key ranges " << Commas(key_ranges_read) << ", granule ranges "
       << Commas(granule_ranges_read) << ", data blocks " << Commas(data_blocks_read)
       << ", other blocks " << Commas(other_blocks_read) << ", block bytes "
       << Commas(block_bytes_read) << "\n";
  text << "rows: read " << Commas(rows_read) << ", re-checked " << Commas(rows_rechecked)
       << " (stale " << Commas(rows_stale) << "), returned " << Commas(rows_returned);
  text << "\n";
  return text.str();
}

}  // namespace blocksieve
