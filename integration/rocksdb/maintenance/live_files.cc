// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/maintenance/file_report.h"

#include <rocksdb/convenience.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/options/loaded_options.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/base/errors.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Without properties, only the blocks tell the number of entries.
constexpr uint64_t kGuessedEntryBytes = 64;

// Whether properties tell what JudgeFilter needs. RocksDB before 7.0 gave filters that are no
// longer read the name of others, kind=stock has the name of blocksieve's, and one that matches
// everything has a few bytes.
bool TellsAll(const rocksdb::TableProperties& table, const FilterReader& reader) {
  const std::string& policy = table.filter_policy_name;
  const bool is_read = policy == Policy::kName
                           ? reader.kind == FilterReader::Kind::kOurs
                           : policy == "bloomfilter" || policy == "ribbonfilter";
  return table.filter_size == 0 || reader.kind == FilterReader::Kind::kNone ||
         (is_read && 16 * table.filter_size >= table.num_filter_entries);
}

TreeFile ToTreeFile(const FileReport& file, size_t id) {
  const FilterReport& filter = file.filter;
  const bool has_one_kind = filter.kinds.size() == 1 && !filter.has_legacy_blooms;
  TreeFile described{.level = file.place.level,
                     .num_keys = FilterKeys(file),
                     .num_bytes = file.num_bytes,
                     .has_filter = filter.origin != FilterOrigin::kNone,
                     .kind = has_one_kind ? std::optional(*filter.kinds.begin()) : std::nullopt,
                     .fpr = file.fpr(),
                     .filter_bytes = filter.point_bytes(),
                     .num_filters = filter.num_filters,
                     .num_prefix_hashes = filter.num_prefix_hashes,
                     .id = id};
  if (file.place.keys) std::tie(described.smallest, described.largest) = *file.place.keys;
  return described;
}

// Sets the block index of the report and, if it is to be read, the filter; filters that RocksDB
// cannot read are unknown. Errors: NotFound.
rocksdb::Status ReadParts(rocksdb::Env* env, const std::string& path,
                          const rocksdb::TableProperties& properties, bool may_have_index,
                          bool reads_filters, FileReport* report) {
  OpenedTable table;
  const bool has_filters = reads_filters && properties.filter_size != 0;
  if (has_filters || may_have_index) {
    rocksdb::Options options;
    options.env = env;
    const rocksdb::Status status = OpenTable(options, path, has_filters, &table);
    if (status.IsNotFound() || status.IsPathNotFound()) return status;
  }
  report->index = ReportIndex(*table.index, properties);
  if (reads_filters) report->filter = ReportFilters(properties, table.filters);
  return rocksdb::Status::OK();
}

}  // namespace

rocksdb::Status ReadLiveFiles(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                              FileParts parts, std::vector<FileReport>* reports) {
  rocksdb::TablePropertiesCollection properties;
  BLOCKSIEVE_RETURN_IF_ERROR(ReadTableProperties(db, column_family, &properties));
  const rocksdb::Options options = db->GetOptions(column_family);
  const bool stays_on_level0 = options.compaction_style == rocksdb::kCompactionStyleFIFO;
  const bool may_have_index = FindBlockIndexOptions(options).has_value();
  const FilterReader reader = ReaderOf(options);
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(column_family, &metadata);
  std::map<std::string, FileReport> known;  // by path: files do not change
  for (FileReport& report : *reports) known[report.place.path] = std::move(report);
  reports->clear();
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      const auto found = properties.find(file.db_path + file.name);  // which begins with a slash
      if (found == properties.end()) continue;
      const rocksdb::TableProperties& table = *found->second;
      const std::string path = PathOfTable(found->first, db->GetEnv()->GetFileSystem().get());
      const uint64_t num_entries = LacksProperties(table)
                                       ? file.size / kGuessedEntryBytes + 1
                                       : table.num_entries - table.num_range_deletions;
      FileReport report;
      FilterReport& filter = report.filter;
      rocksdb::Status read;
      const auto read_parts = [&](bool reads_index, bool reads_filters) {
        if (!read.ok()) return;
        read = ReadParts(db->GetEnv(), path, table, reads_index, reads_filters, &report);
      };
      report.num_entries = num_entries;
      report.num_data_blocks = table.num_data_blocks;
      if (parts != FileParts::kFilters && TellsAll(table, reader)) {
        filter.policy = table.filter_policy_name;
        filter.num_bytes = table.filter_size;
        const bool is_ours = filter.policy == Policy::kName;
        if (filter.num_bytes != 0)
          filter.origin = is_ours ? FilterOrigin::kBlocksieve : FilterOrigin::kStock;
        if (may_have_index && parts == FileParts::kIndexes) {
          read_parts(true, false);
          const bool may_answer = table.prefix_extractor_name.starts_with(RangeExtractor::kName);
          if (may_answer && LacksBlockIndex(report, options)) read_parts(true, true);
        }
      } else if (const auto found_before = known.find(path); found_before != known.end()) {
        report = std::move(found_before->second);
      } else {
        read_parts(may_have_index, true);
      }
      if (!read.ok()) continue;  // compacted away
      report.place = {.path = path,
                      .family = metadata.name,
                      .level = level.level,
                      .is_short_lived = level.level == 0 && !stays_on_level0,
                      .keys = {{file.smallestkey, file.largestkey}},
                      .reader = reader};
      report.num_bytes = file.size;
      reports->push_back(std::move(report));
    }
  }
  return rocksdb::Status::OK();
}

FilterReader ReaderOf(const rocksdb::ColumnFamilyOptions& family, const std::string& named) {
  using Kind = FilterReader::Kind;
  FilterReader reader{.is_ours = false, .spares_last_level = family.optimize_filters_for_hits};
  const auto* const table =
      family.table_factory == nullptr
          ? nullptr
          : family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  reader.kind = table == nullptr ? Kind::kNoFilters : Kind::kNone;
  if (table != nullptr && table->filter_policy == nullptr && !named.empty()) {
    const PolicyEffect effect = Judge(named).kind;
    if (effect == PolicyEffect::kForeign) reader.kind = Kind::kForeign;
    if (effect == PolicyEffect::kStockWithoutBits) reader.kind = Kind::kStock;
    if (reader.kind != Kind::kNone) reader.policy = named;
  }
  if (table == nullptr || table->filter_policy == nullptr) return reader;
  const rocksdb::FilterPolicy& policy = *table->filter_policy;
  const Policy* const ours = FindPolicy(family);
  reader.policy = policy.ToString(rocksdb::ConfigOptions());
  reader.is_ours = std::string_view(policy.Name()) == Policy::kName;  // of any version, or in C
  reader.kind = reader.is_ours && (ours == nullptr || ours->FallbackText().empty()) ? Kind::kOurs
                : std::string_view(policy.CompatibilityName()) == Policy::kStockName
                    ? Kind::kStock
                    : Kind::kForeign;
  return reader;
}

FilterState JudgeFilter(const FileReport& file, const FilterReader& reader) {
  using Kind = FilterReader::Kind;
  const FilterReport& filter = file.filter;
  const Kind kind = reader.kind;
  if (file.num_entries == 0) return FilterState::kWorks;
  if (kind == Kind::kNoFilters) return FilterState::kLeftOut;
  if (filter.origin == FilterOrigin::kNone) {
    const bool by_ours = filter.policy == Policy::kName && (reader.is_ours || kind == Kind::kNone);
    const bool by_rocksdb = !filter.policy.empty() && reader.spares_last_level;
    return by_ours || by_rocksdb ? FilterState::kLeftOut : FilterState::kMissing;
  }
  const bool is_ours = filter.origin == FilterOrigin::kBlocksieve;
  if (kind == Kind::kNone || (is_ours && kind != Kind::kOurs && kind != Kind::kAny)) {
    return FilterState::kNotRead;
  }
  if (is_ours || filter.origin == FilterOrigin::kStock) {
    // What table properties say of filters tells no rate.
    const bool matches_all = filter.num_filters != 0 && filter.predicted_fpr >= 1;
    return matches_all ? FilterState::kUseless : FilterState::kWorks;
  }
  const bool may_work = filter.origin == FilterOrigin::kUnknown && kind == Kind::kForeign;
  return may_work ? FilterState::kWorks : FilterState::kUseless;
}

bool LacksBlockIndex(const FileReport& file, const rocksdb::ColumnFamilyOptions& family) {
  const std::optional<EnableOptions> index = FindBlockIndexOptions(family);
  const bool needs_id =
      std::ranges::any_of(family.table_properties_collector_factories, IsFileIdCollector);
  return index && file.num_entries != 0 && !file.index.is_left_out &&
         (file.index.options_id != OptionsId(*index) || (needs_id && !file.index.has_file_id));
}

bool IsUnfiltered(const FileReport& file) {
  const FilterState state = JudgeFilter(file);
  return state != FilterState::kWorks && state != FilterState::kLeftOut;
}

std::string StateText(FilterState state, const FilterReader& reader) {
  if (state == FilterState::kMissing) return "no filters";
  if (state == FilterState::kUseless) return "filters that rule out nothing";
  return "filters that filter_policy=" + reader.policy + " does not read";
}

double FileReport::fpr() const {
  return JudgeFilter(*this) == FilterState::kWorks ? filter.predicted_fpr : 1;
}

uint64_t FilterKeys(const FileReport& file) {
  const bool is_readable =
      file.filter.origin == FilterOrigin::kBlocksieve || file.filter.origin == FilterOrigin::kStock;
  return is_readable && file.filter.problems.empty() ? file.filter.num_entries : file.num_entries;
}

std::vector<Tree> BuildTrees(const std::vector<FileReport>& files) {
  std::map<std::string, std::vector<TreeFile>> families;
  for (size_t i = 0; i < files.size(); ++i) {
    families[files[i].place.family].push_back(ToTreeFile(files[i], i));
  }
  std::vector<Tree> trees;
  for (auto& [family, its_files] : families) {
    std::ranges::stable_sort(its_files, {}, &TreeFile::level);
    const FilePlace& first = files[its_files.front().id].place;
    const bool have_ranges = std::ranges::all_of(
        its_files, [&](const TreeFile& file) { return files[file.id].place.keys.has_value(); });
    Tree& tree =
        trees.emplace_back(std::move(its_files), family,
                           /*level0_is_short_lived=*/first.level != 0 || first.is_short_lived);
    if (have_ranges) tree.SetKeyRanges();
  }
  return trees;
}

}  // namespace blocksieve::rocksdb_plugin
