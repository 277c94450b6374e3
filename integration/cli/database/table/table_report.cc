// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/env.h>

#include "integration/cli/database/table/table_file.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::cli {
namespace {

IndexReport ReportSkipIndex(const std::string& path,
                            const std::shared_ptr<const rocksdb::TableProperties>& properties) {
  const auto& user = properties->user_collected_properties;
  const rocksdb_plugin::SstIndex index(properties,
                                       {rocksdb::Env::Default()->GetFileSystem(), path});
  IndexReport report;
  if (const SkipIndex* const open = index.index()) {
    report.num_granules = open->num_granules();
    report.num_bytes = open->index_bytes();
    report.place = index.is_in_sidecar() ? "sidecar" : "sst";
    report.columns = open->columns();
  } else if (const bool has_sidecar = user.contains(rocksdb_plugin::kSidecarProperty);
             has_sidecar || user.contains(rocksdb_plugin::kIndexProperty)) {
    // A copied database is not damaged.
    (has_sidecar && index.lacks_sidecar() ? report.note : report.problem) = index.problem();
  } else if (user.count(rocksdb_plugin::kProblemProperty) != 0) {
    report.note = index.problem();
  }
  return report;
}

}  // namespace

// RocksDB silently skips filters that it cannot read.
void TableFile::ExplainMissingFilters(FilterReport* report) const {
  report->note = has_obsolete_filter_ ? "one filter per block, which RocksDB no longer reads"
                                      : rocksdb_plugin::LoadedAbiProblem();
  if (!report->note.empty()) return;
  std::string damage = table_.filter_damage;
  if (damage.empty()) {
    const rocksdb::Status status = VerifyChecksum();
    if (!status.ok()) damage = status.ToString();
  }
  if (!damage.empty()) {
    report->origin = FilterOrigin::kUnreadable;
    report->problems.push_back("unreadable filter: " + damage);
  } else {
    report->note = "written by the unknown policy " + properties_->filter_policy_name;
  }
}

std::string TableFile::EntriesText(const FilterReport& report) const {
  if (!has_prefixes_) return "keys";
  if (!report.has_range_extractor) return has_whole_keys_ ? "keys and prefixes" : "prefixes";
  const bool has_ranges = report.ranges.num_filters != 0;
  if (report.prefixes.num_filters == 0) return has_ranges ? "keys and ranges" : "keys";
  return has_ranges ? "keys, prefixes and ranges" : "keys and prefixes";
}

FilterReport TableFile::ReportFilters() {
  FilterReport report = rocksdb_plugin::ReportFilters(*properties_, table_.filters);
  if (!is_block_based()) {
    report.origin = FilterOrigin::kNone;  // a PlainTable may have one of its own
    report_.place.reader.kind = rocksdb_plugin::FilterReader::Kind::kNoFilters;
    report.note = "has no filters: table format " + format_;
  } else if (rocksdb_plugin::LacksProperties(*properties_)) {
    report.note = "written without table properties";
    if (!why_no_keys_.empty()) {
      report.note += "; the number of keys is unknown: " + why_no_keys_;
    }
  } else if (!table_.filters.empty()) {
    report.entries = EntriesText(report);
  } else if (report.origin == FilterOrigin::kUnknown) {
    ExplainMissingFilters(&report);
  }
  return report;
}

// Reads no data blocks, unless nothing else tells the number of keys.
void TableFile::Report(uint64_t num_bytes) {
  report_.num_bytes = num_bytes;
  report_.num_entries = properties_->num_entries - properties_->num_range_deletions;
  report_.num_data_blocks = properties_->num_data_blocks;
  if (rocksdb_plugin::LacksProperties(*properties_)) {
    VisitKeys([&](const rocksdb::Slice&) { ++report_.num_entries; });
  }
  report_.filter = ReportFilters();
  report_.index = rocksdb_plugin::ReportIndex(*table_.index, *properties_);
  if (report_.index.place.empty()) report_.index = ReportSkipIndex(path_, properties_);
}

}  // namespace blocksieve::cli
