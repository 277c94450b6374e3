#include <sstream>
#include <utility>

#include "blocksieve/granule_index.h"
#include "blocksieve/skip_index_explanation.h"

namespace blocksieve {

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
      text << "; index in " << one.num_files << " of " << num_files << " files, "
           << one.num_granules << " granules";
      if (one.is_used && one.selected != 0) text << ", of which it leaves " << one.selected;
    }
    text << "\n";
  }
  for (const ColumnExplanation& column : columns) {
    text << "column " << column.name << ": " << column.num_probes << " probes, at most "
         << column.index_bytes << " bytes of index; filters";
    const char* separator = ": ";
    for (const std::string& form : column.filters) {
      text << std::exchange(separator, ", ") << form;
      const std::string_view reason = GranuleFiltersReason(form);
      if (!reason.empty()) text << " (" << reason << ")";
    }
    text << "\n";
  }
  if (num_files != 0) {
    text << "files: " << num_files << ", skipped " << files_skipped << " (newer than the snapshot "
         << files_too_new << "), without a usable index " << files_without_index << ", vanished "
         << files_vanished << "\n";
    text << "granules: " << num_granules << ", selected " << granules_selected
         << " (always matching " << granules_always_match << "), newer than the snapshot "
         << granules_too_new << "\n";
    text << "index bytes touched: " << index_bytes_touched << "\n";
  }
  for (const std::string& problem : file_problems) text << "file " << problem << "\n";
  text << "read: " << ranges_read << " merged ranges, " << runs_read << " runs of single files, "
       << data_blocks_read << " data blocks, " << other_blocks_read << " other blocks, "
       << block_bytes_read << " bytes\n";
  text << "rows: read " << rows_read << ", re-checked " << rows_rechecked << " (stale "
       << rows_stale << "), returned " << rows_returned << "\n";
  return text.str();
}

}  // namespace blocksieve
