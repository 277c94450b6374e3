// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/rocksdb/prune_reads.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/predicate.h"
#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/block_index/factory.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/scan/scan_context.h"
#include "integration/rocksdb/scan/scan_plan.h"
#include "lib/base/errors.h"

namespace blocksieve {

using namespace rocksdb_plugin;  // NOLINT: the same component

/// The files to leave out. Also owned by the ReadOptions that hold the filter.
struct ReadPruning::Decision {
  explicit Decision(std::optional<Predicate> predicate) : condition(std::move(predicate)) {}

  static const TableFilter& GetFilter(const ReadPruning& pruning) { return pruning.filter_; }

  void Decide(const SstPlace& place, uint32_t value_suffix_bytes, const FileMap& map,
              const rocksdb::TablePropertiesCollection& tables);

  const std::optional<Predicate> condition;  // nullopt: none, for ranges alone
  std::vector<SidecarId> pruned;             // ids of files, sorted
  bool has_block_indexes = false;            // the column family's new files have them
  const BlockIndexChoice choice = NewBlockIndexChoice();
  std::map<SidecarId, FileBlocks> by_block;  // files of which blocks may be left out
  TableFilter others;                        // the program's own filter; may be empty
  ReadPruningCounts counts;                  // without those of tables
  mutable std::atomic<uint64_t> tables_asked = 0;
  mutable std::atomic<uint64_t> tables_left_out = 0;
};

namespace {

void CountOne(std::atomic<uint64_t>* count) { count->fetch_add(1, std::memory_order_relaxed); }

/// The table filter: a class, so that the filter of an earlier call is recognised.
class DecisionFilter {
 public:
  explicit DecisionFilter(std::shared_ptr<const ReadPruning::Decision> decision)
      : decision_(std::move(decision)) {}

  const TableFilter& others() const { return decision_->others; }

  bool operator()(const rocksdb::TableProperties& properties) const {
    if (others() && !others()(properties)) return false;
    const bool is_read = Accept(properties);
    CountOne(&decision_->tables_asked);
    if (!is_read) CountOne(&decision_->tables_left_out);
    return is_read;
  }

 private:
  // RocksDB, which calls this, is not exception-safe.
  bool Accept(const rocksdb::TableProperties& properties) const noexcept try {
    const std::optional<SidecarId> id = IdOfSst(properties);
    if (id && std::ranges::binary_search(decision_->pruned, *id)) return false;
    const auto& by_block = decision_->by_block;
    const auto blocks = id ? by_block.find(*id) : by_block.end();
    if (blocks != by_block.end()) {
      NoteFile(decision_->choice, properties, {decision_, &blocks->second});
    }
    return true;
  } catch (const std::bad_alloc&) {
    return true;
  }

  std::shared_ptr<const ReadPruning::Decision> decision_;
};

// Secondary instances replay the primary's log into memtables, so that these have versions older
// than those in files. They are known by their iterators, which do not support snapshots.
rocksdb::Status CheckIsNoSecondary(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family) {
  rocksdb::ReadOptions options;
  options.read_tier = rocksdb::kMemtableTier;
  options.snapshot = db->GetSnapshot();
  if (options.snapshot == nullptr) {
    return rocksdb::Status::NotSupported(
        "blocksieve: pruned reads need snapshots, and GetSnapshot() of this database returns null");
  }
  const std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator(options, column_family));
  rocksdb::Status status = iterator->status();
  db->ReleaseSnapshot(options.snapshot);
  if (!status.IsNotSupported()) return status;
  return rocksdb::Status::NotSupported(
      "blocksieve: pruned reads need iterators at a snapshot, which this database does not support "
      "(it may be a secondary instance)",
      status.ToString());
}

rocksdb::Status CheckPrunable(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                              const rocksdb::ReadOptions& read_options) {
  if (read_options.tailing) {
    return rocksdb::Status::InvalidArgument(
        "blocksieve: option read_options.tailing is true; allowed: false, as RocksDB's tailing "
        "iterators end a level at a file that is left out");
  }
  const rocksdb::Options options = db->GetOptions(column_family);
  const auto refusal = [](const std::string& option, const std::string& allowed, const char* why) {
    return rocksdb::Status::NotSupported("blocksieve: option " + option +
                                         " is set; allowed: " + allowed + ", as " + why);
  };
  if (options.merge_operator != nullptr) {
    return refusal("merge_operator", "none", "operands need the values in the files left out");
  }
  if (options.comparator->timestamp_size() != 0) {
    return rocksdb::Status::NotSupported(
        "blocksieve: pruned reads do not support user-defined timestamps");
  }
  if (AllowsIngestBehind(options)) {
    return refusal("allow_ingest_behind", "false", "ingested files may be older than all others");
  }
  if (ConvertsTombstones(options)) {
    return refusal("min_tombstones_for_range_conversion", "0",
                   "RocksDB then refuses iterators that leave files out");
  }
  return CheckIsNoSecondary(db, column_family);
}

// The condition without order and limit. Errors: InvalidArgument.
rocksdb::Status ParseCondition(std::string_view text, const ColumnList& columns,
                               Predicate* condition) {
  Result<Query> query = Query::Parse(text, columns);
  if (!query.ok()) return ToRocksStatus(query.status());
  if (query->order || query->limit != 0) {
    return rocksdb::Status::InvalidArgument(
        "blocksieve: the condition has ORDER BY or LIMIT; allowed: a condition alone. Use SkipScan "
        "for the others");
  }
  *condition = std::move(query->predicate);
  return rocksdb::Status::OK();
}

}  // namespace

/// Decides on all files. `tables` are those of about the same moment as the map.
void ReadPruning::Decision::Decide(const SstPlace& place, uint32_t value_suffix_bytes,
                                   const FileMap& map,
                                   const rocksdb::TablePropertiesCollection& tables) {
  std::map<uint64_t, const rocksdb::TablePropertiesCollection::value_type*> by_number;
  std::map<SidecarId, int> num_of_id;
  for (const auto& table : tables) {
    by_number[ParseFileNumber(table.first)] = &table;
    if (const auto id = IdOfSst(*table.second)) ++num_of_id[*id];
  }
  map.ForEach([&](const rocksdb::SstFileMetaData& file, OlderEntries older) {
    ++counts.num_files;
    counts.num_bytes += file.size;
    // Files that appeared between the two lists, or are gone, are in one of them.
    const auto table = by_number.find(ParseFileNumber(file.name));
    if (table == by_number.end()) return ++counts.files_not_unique;
    const auto& [path, properties] = *table->second;
    const auto id = IdOfSst(*properties);
    if (!id || num_of_id[*id] != 1) return ++counts.files_not_unique;
    if (properties->user_collected_properties.contains(kExternalFileProperty)) {
      return ++counts.files_of_writers;
    }
    if (older == OlderEntries::kInOtherFiles) return ++counts.files_above_older;
    const bool shares_keys = older == OlderEntries::kOfSharedKeys;
    const auto read_by_block = [&] {
      by_block.try_emplace(*id, &*condition, value_suffix_bytes, /*leaves_out_ends=*/!shares_keys);
      return ++counts.files_by_block;
    };
    if (shares_keys) return has_block_indexes ? read_by_block() : ++counts.files_sharing_keys;
    SstPlace sst = place;
    sst.path = path;
    const auto opened = SkipIndexCatalog::Default().Open(properties, sst, condition->columns());
    const SkipIndex* const index = opened->index();
    if (index == nullptr || opened->value_suffix_bytes() != value_suffix_bytes ||
        !index->CanPrune(*condition)) {
      return has_block_indexes ? read_by_block() : ++counts.files_without_index;
    }
    if (!index->Candidates(*condition).IsEmpty()) return ++counts.files_matching;
    pruned.push_back(*id);
    counts.bytes_pruned += file.size;
    return ++counts.files_pruned;
  });
  std::ranges::sort(pruned);
}

ReadPruning::ReadPruning(std::shared_ptr<const Decision> decision)
    : decision_(std::move(decision)), filter_(DecisionFilter(decision_)) {}
ReadPruning::~ReadPruning() = default;

bool ReadPruning::Matches(const rocksdb::Slice& value) const {
  return !decision_->condition || decision_->condition->Matches(value.ToStringView());
}

ReadPruningCounts ReadPruning::counts() const {
  ReadPruningCounts counts = decision_->counts;
  counts.tables_asked = decision_->tables_asked.load(std::memory_order_relaxed);
  counts.tables_left_out = decision_->tables_left_out.load(std::memory_order_relaxed);
  for (const auto& [id, blocks] : decision_->by_block) {
    counts.num_blocks += blocks.num_blocks();
    counts.blocks_left_out += blocks.blocks_left_out();
  }
  return counts;
}

rocksdb::Status rocksdb_plugin::PruneReadsBy(rocksdb::DB* db,
                                             rocksdb::ColumnFamilyHandle* column_family,
                                             const Predicate& condition,
                                             rocksdb::ReadOptions* read_options,
                                             std::shared_ptr<ReadPruning>* pruning) {
  BLOCKSIEVE_RETURN_IF_ERROR(CheckPrunable(db, column_family, *read_options));
  const rocksdb::Options options = db->GetOptions(column_family);
  const std::optional<BlockIndexOptions> block_index = FindBlockIndexOptions(options);
  auto decision = std::make_shared<ReadPruning::Decision>(condition);
  decision->has_block_indexes = block_index && !block_index->columns.empty();
  rocksdb::TablePropertiesCollection tables;
  BLOCKSIEVE_RETURN_IF_ERROR(ReadTableProperties(db, column_family, &tables));
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(column_family, &metadata);
  decision->Decide({db->GetEnv()->GetFileSystem(), ""}, HiddenSuffixBytes(db, column_family),
                   FileMap(column_family->GetComparator(), std::move(metadata)), tables);
  decision->others = ToTableFilter(read_options->table_filter);
  if (const auto* const earlier = decision->others.target<DecisionFilter>()) {
    decision->others = TableFilter(earlier->others());
  }
  auto done = std::make_shared<ReadPruning>(decision);
  // RocksDB passes null to a filter for a table without properties.
  const bool is_safe = std::ranges::none_of(
      tables, [](const auto& table) { return LacksProperties(*table.second); });
  SetTableFilter(is_safe ? ReadPruning::Decision::GetFilter(*done) : decision->others,
                 read_options);
  if (block_index) Choose(decision->choice, read_options);
  *pruning = std::move(done);
  return rocksdb::Status::OK();
}

rocksdb::Status PruneReads(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                           std::string_view condition, rocksdb::ReadOptions* read_options,
                           std::shared_ptr<ReadPruning>* pruning) {
  return PublicCall({{"db", db}, {"read_options", read_options}, {"pruning", pruning}},
                    [&]() -> rocksdb::Status {
                      if (column_family == nullptr) column_family = db->DefaultColumnFamily();
                      const rocksdb::Options options = db->GetOptions(column_family);
                      if (condition.empty() && FindBlockIndexOptions(options)) {
                        auto ranges_alone = std::make_shared<ReadPruning::Decision>(std::nullopt);
                        Choose(ranges_alone->choice, read_options);
                        *pruning = std::make_shared<ReadPruning>(std::move(ranges_alone));
                        return rocksdb::Status::OK();
                      }
                      ColumnList columns;
                      rocksdb::Status status = FindColumns(options, &columns);
                      Predicate predicate = Predicate::Constant(true);
                      if (status.ok()) status = ParseCondition(condition, columns, &predicate);
                      if (!status.ok()) return status;
                      return PruneReadsBy(db, column_family, predicate, read_options, pruning);
                    });
}

}  // namespace blocksieve
