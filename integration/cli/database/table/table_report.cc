#include "integration/cli/database/table/file_report.h"

#include <rocksdb/env.h>

#include <algorithm>

#include "integration/cli/database/table/opened_table.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/granule/granule_index.h"

namespace blocksieve::cli {
namespace {

// RocksDB silently skips filters that it cannot read.
void ExplainMissingFilters(OpenedTable* table, FilterReport* report) {
  report->note = table->has_obsolete_filter()
                     ? "one filter per block, which RocksDB no longer reads"
                     : rocksdb_plugin::LoadedAbiProblem();
  if (!report->note.empty()) return;
  std::string damage = table->filter_damage();
  if (damage.empty()) {
    const rocksdb::Status status = table->reader()->VerifyChecksum();
    if (!status.ok()) damage = status.ToString();
  }
  if (!damage.empty()) {
    report->origin = FilterOrigin::kUnreadable;
    report->problems.push_back("unreadable filter: " + damage);
  } else {
    report->note = "written by the unknown policy " + table->properties().filter_policy_name;
  }
}

std::string EntriesText(const OpenedTable& table, const FilterReport& report) {
  if (!table.has_prefixes()) return "keys";
  if (!report.has_range_extractor) {
    return table.has_whole_keys() ? "keys and prefixes" : "prefixes";
  }
  if (report.prefixes.num_filters == 0) {
    return report.ranges.num_filters == 0 ? "keys" : "keys and ranges";
  }
  return report.ranges.num_filters == 0 ? "keys and prefixes" : "keys, prefixes and ranges";
}

FilterReport ReportFilters(OpenedTable* table) {
  FilterReport report = rocksdb_plugin::ReportFilters(table->properties(), table->filters());
  if (!table->filters().empty()) {
    report.entries = EntriesText(*table, report);
  } else if (report.origin == FilterOrigin::kUnknown) {
    ExplainMissingFilters(table, &report);
  }
  return report;
}

IndexReport Describe(const GranuleIndex& index) {
  IndexReport report;
  report.num_granules = index.num_granules();
  report.num_bytes = index.index_bytes();
  for (size_t i = 0; i < index.num_columns(); ++i) {
    const GranuleColumnInfo& column = index.column(i);
    report.columns.push_back({column.name, std::string(GranuleFiltersName(column)),
                              column.filter_bytes, column.bounds_bytes});
  }
  return report;
}

IndexReport ReportIndex(const OpenedTable& table) {
  const auto& user = table.properties().user_collected_properties;
  const rocksdb_plugin::FileIndex index(
      table.shared_properties(), {rocksdb::Env::Default()->GetFileSystem(), table.path(), nullptr},
      std::nullopt);
  IndexReport report;
  if (index.index() != nullptr) {
    report = Describe(index.index()->granules());
    report.place = index.is_in_sidecar() ? "sidecar" : "sst";
  } else if (user.count(rocksdb_plugin::kSidecarProperty) != 0 && index.lacks_sidecar()) {
    report.note = index.problem();  // a copied database is not damaged
  } else if (user.count(rocksdb_plugin::kIndexProperty) != 0 ||
             user.count(rocksdb_plugin::kSidecarProperty) != 0) {
    report.problem = index.problem();
  } else if (user.count(rocksdb_plugin::kProblemProperty) != 0) {
    report.note = index.problem();
  }
  return report;
}

}  // namespace

FileReport ReportTable(const FilePlace& place, uint64_t num_bytes, OpenedTable* table) {
  const rocksdb::TableProperties& properties = table->properties();
  return {.place = place,
          .num_entries = properties.num_entries - properties.num_range_deletions,
          .num_bytes = num_bytes,
          .filter = ReportFilters(table),
          .index = ReportIndex(*table)};
}

}  // namespace blocksieve::cli
