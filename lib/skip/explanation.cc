#include <sstream>
#include <string>
#include <utility>

#include "blocksieve/skip_index.h"
#include "lib/granule/granule_index.h"

namespace blocksieve {
namespace {

/// "1,234,567", as the command writes numbers.
std::string Commas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
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
      text << "; index in " << Commas(one.num_files) << " of " << Commas(num_files) << " files, "
           << Commas(one.num_granules) << " granules";
      if (one.is_used && one.selected != 0) text << ", of which it leaves " << Commas(one.selected);
    }
    text << "\n";
  }
  for (const ColumnExplanation& column : columns) {
    text << "column " << column.name << ": " << Commas(column.num_probes) << " probes, at most "
         << Commas(column.index_bytes) << " bytes of index; filters";
    const char* separator = ": ";
    for (const std::string& form : column.filters) {
      text << std::exchange(separator, ", ") << form;
      const std::string_view reason = GranuleFiltersReason(form);
      if (!reason.empty()) text << " (" << reason << ")";
    }
    text << "\n";
  }
  if (num_files != 0) {
    text << "files: " << Commas(num_files) << ", skipped " << Commas(files_skipped)
         << " (newer than the snapshot " << Commas(files_too_new) << "), without a usable index "
         << Commas(files_without_index) << ", vanished " << Commas(files_vanished) << "\n";
    text << "granules: " << Commas(num_granules) << ", selected " << Commas(granules_selected)
         << " (always matching " << Commas(granules_always_match) << "), newer than the snapshot "
         << Commas(granules_too_new) << "\n";
    if (granules_read != 0)
      text << "granules read in the order of bounds: " << Commas(granules_read) << "\n";
    text << "index bytes touched: " << Commas(index_bytes_touched) << "\n";
  }
  for (const std::string& problem : file_problems) text << "file " << problem << "\n";
  text << "read: " << Commas(ranges_read) << " merged ranges, " << Commas(runs_read)
       << " runs of single files, " << Commas(data_blocks_read) << " data blocks, "
       << Commas(other_blocks_read) << " other blocks, " << Commas(block_bytes_read) << " bytes\n";
  text << "rows: read " << Commas(rows_read) << ", re-checked " << Commas(rows_rechecked)
       << " (stale " << Commas(rows_stale) << "), returned " << Commas(rows_returned);
  if (rows_counted != 0)
    text << ", of which " << Commas(rows_counted) << " were counted without reading";
  text << "\n";
  return text.str();
}

}  // namespace blocksieve
