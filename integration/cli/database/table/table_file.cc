#include "integration/cli/database/table/table_file.h"

#include <rocksdb/env.h>
#include <rocksdb/iterator.h>
#include <rocksdb/slice_transform.h>

#include <algorithm>

#include "blocksieve/filter.h"
#include "integration/cli/term/terminal.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/base/coding.h"

namespace blocksieve::cli {
namespace {

// RocksDB silently skips filters that it cannot read.
void ExplainMissingFilters(OpenedTable* table, FilterReport* report) {
  report->note = table->has_obsolete_filter ? "one filter per block, which RocksDB no longer reads"
                                            : rocksdb_plugin::LoadedAbiProblem();
  if (!report->note.empty()) return;
  std::string damage = table->filter_damage;
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
  if (!table.has_prefixes) return "keys";
  if (!report.has_range_extractor) {
    return table.has_whole_keys ? "keys and prefixes" : "prefixes";
  }
  if (report.prefixes.num_filters == 0) {
    return report.ranges.num_filters == 0 ? "keys" : "keys and ranges";
  }
  return report.ranges.num_filters == 0 ? "keys and prefixes" : "keys, prefixes and ranges";
}

FilterReport ReportFilters(OpenedTable* table) {
  FilterReport report = rocksdb_plugin::ReportFilters(table->properties(), table->filters());
  if (!table->is_block_based()) {
    report.origin = FilterOrigin::kNone;  // a PlainTable may have one of its own
    report.note = "has no filters: table format " + table->format;
  } else if (rocksdb_plugin::LacksProperties(table->properties())) {
    report.note = "written without table properties";
    if (!table->why_no_keys.empty()) {
      report.note += "; the number of keys is unknown: " + table->why_no_keys;
    }
  } else if (!table->filters().empty()) {
    report.entries = EntriesText(*table, report);
  } else if (report.origin == FilterOrigin::kUnknown) {
    ExplainMissingFilters(table, &report);
  }
  return report;
}

IndexReport Describe(const SkipIndex& index) {
  IndexReport report;
  report.num_granules = index.num_granules();
  report.num_bytes = index.index_bytes();
  for (const IndexColumnInfo& column : index.columns()) {
    report.columns.push_back({column.definition, std::string(FiltersName(column)),
                              column.filter_bytes, column.bounds_bytes});
  }
  return report;
}

IndexReport ReportIndex(const OpenedTable& table) {
  const auto& user = table.properties().user_collected_properties;
  const rocksdb_plugin::SstIndex index(
      table.shared_properties, {rocksdb::Env::Default()->GetFileSystem(), table.path, nullptr},
      std::nullopt);
  IndexReport report;
  if (index.index() != nullptr) {
    report = Describe(*index.index());
    report.place = index.is_in_sidecar() ? "sidecar" : "sst";
    // NOLINTNEXTLINE(bugprone-branch-clone): the order matters.
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

// Describes a table without reading its data blocks, unless nothing else tells the number of keys.
FileReport ReportTable(const FilePlace& place, uint64_t num_bytes, OpenedTable* table) {
  const rocksdb::TableProperties& properties = table->properties();
  uint64_t num_entries = properties.num_entries - properties.num_range_deletions;
  if (rocksdb_plugin::LacksProperties(properties)) {
    table->ForEachKey([&](const rocksdb::Slice&) { ++num_entries; });
  }
  return {.place = place,
          .num_entries = num_entries,
          .num_bytes = num_bytes,
          .filter = ReportFilters(table),
          .index = ReportIndex(*table)};
}

// A key that starts with `present` and is absent, except with probability 2^-64.
std::string RandomExtension(std::string_view present, std::mt19937_64* random) {
  std::string key(present);
  AppendLittleEndian(&key, (*random)());
  return key;
}

}  // namespace

std::unique_ptr<TableFile> TableFile::Open(const FilePlace& place) {
  uint64_t num_bytes = 0;
  const rocksdb::Status status = rocksdb::Env::Default()->GetFileSize(place.path, &num_bytes);
  if (status.IsNotFound() || status.IsPathNotFound()) return nullptr;
  term::CheckOk(status, "cannot open {}", place.path);
  return std::unique_ptr<TableFile>(new TableFile(place, num_bytes));
}

TableFile::TableFile(const FilePlace& place, uint64_t num_bytes)
    : table_(place.path, place.comparator), report_(ReportTable(place, num_bytes, &table_)) {
  const std::vector<std::string>& filters = table_.filters();
  if (filters.size() == 1) only_filter_.reset(rocksdb_plugin::NewBitsReader(filters.front()));
}

TableFile::~TableFile() = default;

std::vector<std::string> TableFile::FindDamage() {
  std::vector<std::string> damage;
  const rocksdb::Status status = table_.reader()->VerifyChecksum();
  const bool has_none = !table_.is_block_based() && status.IsNotSupported();
  if (!status.ok() && !has_none) damage.push_back("block checksum: " + status.ToString());
  for (const std::string& contents : table_.filters()) {
    if (!DescribeFilter(AsBytes(contents)).ok()) continue;  // stock, or already in the report
    const Status valid = Filter::Verify(AsBytes(contents));
    if (!valid.ok()) damage.push_back("filter: " + valid.message());
  }
  return damage;
}

std::string TableFile::ForEachKey(const KeyVisitor& visit) {
  std::string unchecked = table_.ForEachKey(
      [&](const rocksdb::Slice& key) { visit(key.ToStringView(), PassesFilters(key)); });
  if (table_.has_prefixes && table_.extractor() == nullptr) {
    return (unchecked.empty() ? "" : unchecked + "; ") +
           "prefixes were not checked: the extractor " + table_.properties().prefix_extractor_name +
           " is unknown";
  }
  return unchecked;
}

std::optional<bool> TableFile::KeyMayMatch(const rocksdb::Slice& key) {
  if (table_.filters().empty()) return true;
  if (only_filter_ != nullptr) return only_filter_->MayMatch(key);
  return AnswerOf(Lookup().Get(key));
}

std::optional<bool> TableFile::PrefixMayMatch(const rocksdb::Slice& key) {
  const rocksdb::SliceTransform* const extractor = table_.extractor();
  if (table_.filters().empty() || extractor == nullptr || !extractor->InDomain(key)) return true;
  if (only_filter_ != nullptr) return only_filter_->MayMatch(extractor->Transform(key));
  return AnswerOf(Lookup().Seek(key));
}

bool TableFile::PassesFilters(const rocksdb::Slice& key) {
  // Under the extractor of ranges, all keys have the same prefix, which answers for a range.
  const bool has_prefixes = table_.has_prefixes && !report_.filter.has_range_extractor;
  return (!table_.has_whole_keys || KeyMayMatch(key).value_or(true)) &&
         (!has_prefixes || PrefixMayMatch(key).value_or(true));
}

TableLookup& TableFile::Lookup() {
  if (lookup_ == nullptr) {
    // RocksDB requires that both ends of an imported file are readable.
    rocksdb::Iterator& probe = table_.probe();
    probe.SeekToFirst();
    if (probe.Valid()) probe.SeekToLast();
    if (!probe.Valid()) term::Fail("cannot probe the filters: {}", probe.status().ToString());
    term::CheckOk(TableLookup::Open(table_.path, table_.OptionsWith(captured_.policy()),
                                    table_.properties(), &lookup_),
                  "cannot probe the filters");
  }
  return *lookup_;
}

std::optional<bool> TableFile::AnswerOf(const rocksdb::Status& lookup) {
  term::CheckOk(lookup, "cannot probe the filters");
  return captured_.TakeAnswer();
}

bool TableFile::MayMatch(std::string_view key) {
  // A lookup reads nothing for a key after the last one of the file.
  return (table_.has_whole_keys ? KeyMayMatch(key) : PrefixMayMatch(key)).value_or(false);
}

std::optional<bool> TableFile::MayMatchRange(std::string_view begin, std::string_view end) {
  const rocksdb::SliceTransform* const extractor = table_.extractor();
  if (!report_.filter.answers_ranges() || !rocksdb_plugin::IsRangeExtractor(extractor)) {
    return std::nullopt;
  }
  if (only_filter_ == nullptr) return AnswerOf(Lookup().Seek(begin, end));
  // The calls that RocksDB makes.
  const rocksdb::Slice prefix = extractor->Transform(begin);
  extractor->Transform(end);
  return only_filter_->MayMatch(prefix);
}

bool TableFile::HasKeyIn(std::string_view begin, std::string_view end) {
  rocksdb::Iterator& probe = table_.probe();
  probe.Seek(begin);
  return probe.Valid() && probe.key().ToStringView() < end;
}

bool TableFile::HasPrefix(const rocksdb::Slice& prefix) {
  rocksdb::Iterator& probe = table_.probe();
  probe.Seek(prefix);
  return !probe.status().ok() || (probe.Valid() && probe.key().starts_with(prefix));
}

std::optional<std::string> TableFile::AbsentKey(std::string_view present, std::mt19937_64* random) {
  if (table_.has_whole_keys) return RandomExtension(present, random);
  const rocksdb::SliceTransform* const extractor = table_.extractor();
  if (extractor == nullptr || !extractor->InDomain(present)) return std::nullopt;
  const std::string prefix = extractor->Transform(present).ToString();
  // As close as possible: first only the last byte differs, then the last two, and so on.
  constexpr int kTriesPerWidth = 4;
  for (size_t i = 0; i < kTriesPerWidth * std::min(prefix.size(), sizeof(uint64_t)); ++i) {
    std::string key = prefix;
    for (size_t width = 0; width <= i / kTriesPerWidth; ++width) {
      key[key.size() - 1 - width] = static_cast<char>((*random)());
    }
    if (extractor->InDomain(key) && !HasPrefix(extractor->Transform(key))) return key;
  }
  return std::nullopt;
}

}  // namespace blocksieve::cli
