// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/rocksdb/prune_reads.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/predicate.h"
#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/block_index/adapters.h"
#include "integration/rocksdb/block_index/factory.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/prune_rule.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "integration/rocksdb/scan/family_files.h"
#include "integration/rocksdb/scan/file_asker.h"
#include "integration/rocksdb/scan/scan_context.h"
#include "lib/base/errors.h"

namespace blocksieve {

using namespace rocksdb_plugin;  // NOLINT: the same component

/// What iterators leave out. Also owned by copies of the table filter.
struct ReadPruning::Decision {
  explicit Decision(std::optional<Predicate> predicate) : condition(std::move(predicate)) {}

  const std::optional<Predicate> condition;  // nullopt: none, for ranges alone
  std::shared_ptr<const FamilyFiles> files;  // those decided for; null: none
  std::vector<FileDecision> decisions;       // the same
  std::vector<SidecarId> pruned;             // ids of files, sorted
  BlocksOfFiles by_block;                    // files of which blocks may be left out
  TableFilter others;                        // the program's own filter; may be empty
  std::string reads_all;                     // why nothing is left out; empty if something may be
  ReadPruningCounts counts;                  // without those of tables
  mutable std::atomic<uint64_t> tables_asked = 0;
  mutable std::atomic<uint64_t> tables_left_out = 0;
};

/// The options of the iterators, and what these options point to.
struct ReadPruning::Reads {
  rocksdb::ReadOptions options;
  std::string lower_bytes;
  std::string upper_bytes;
  rocksdb::Slice lower;
  rocksdb::Slice upper;
  TableFilter filter;
  BlockIndexChoice choice;
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
    const bool is_read = !IsPruned(properties);
    CountOne(&decision_->tables_asked);
    if (!is_read) CountOne(&decision_->tables_left_out);
    return is_read;
  }

 private:
  // RocksDB, which calls this, is not exception-safe.
  bool IsPruned(const rocksdb::TableProperties& properties) const noexcept try {
    // As long as the list owns the properties, no other table can have their address.
    if (const auto file = decision_->files->Locate(properties))
      return decision_->decisions[*file].verdict == &ReadPruningCounts::files_pruned;
    const std::optional<SidecarId> id = IdOfSst(properties);
    return id && std::ranges::binary_search(decision_->pruned, *id);
  } catch (const std::bad_alloc&) {
    return false;
  }

  std::shared_ptr<const ReadPruning::Decision> decision_;
};

// What a program can do where no file may be left out.
constexpr const char* kUseScan = "; SkipScan finds the rows of this database by their skip indexes";
constexpr const char* kReadAll =
    "; iterators without PruneReads read all rows, for Predicate::Matches to test";

// Secondary instances replay the primary's log into memtables, so that these have versions older
// than those in files. They are known by their iterators, which do not support snapshots.
rocksdb::Status CheckIsNoSecondary(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family) {
  rocksdb::ReadOptions options;
  options.read_tier = rocksdb::kMemtableTier;
  options.snapshot = db->GetSnapshot();
  if (options.snapshot == nullptr) {
    return rocksdb::Status::NotSupported(
        std::string("blocksieve: pruned reads need snapshots, and GetSnapshot() of this database "
                    "returns null") +
        kReadAll);
  }
  const std::unique_ptr<rocksdb::Iterator> iterator(db->NewIterator(options, column_family));
  rocksdb::Status status = iterator->status();
  db->ReleaseSnapshot(options.snapshot);
  if (!status.IsNotSupported()) return status;
  return rocksdb::Status::NotSupported(
      std::string("blocksieve: pruned reads need iterators at a snapshot, which this database does "
                  "not support (it may be a secondary instance)") +
          kReadAll + ", and a read-only instance (DB::OpenForReadOnly) is pruned",
      status.ToString());
}

rocksdb::Status CheckNotTailing(const rocksdb::ReadOptions& read_options) {
  if (!read_options.tailing) return {};
  return rocksdb::Status::InvalidArgument(
      "blocksieve: option read_options.tailing is true; allowed: false, as RocksDB's tailing "
      "iterators end a level at a file that is left out");
}

bool HasKeyColumns(const Predicate& condition) {
  return std::ranges::any_of(condition.columns(), &Column::is_of_key);
}

rocksdb::Status CheckPrunable(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                              const rocksdb::Options& options, const Predicate& condition,
                              const rocksdb::ReadOptions& read_options, bool can_lack_bases) {
  BLOCKSIEVE_RETURN_IF_ERROR(CheckNotTailing(read_options));
  const auto refusal = [](const std::string& option, const std::string& allowed,
                          const std::string& why) {
    return rocksdb::Status::NotSupported("blocksieve: option " + option +
                                         " is set; allowed: " + allowed + ", as " + why);
  };
  if (options.merge_operator != nullptr && !(can_lack_bases && HasKeyColumns(condition))) {
    return refusal("merge_operator", "none",
                   std::string("operands need the values in the files left out") + kUseScan);
  }
  if (options.comparator->timestamp_size() != 0) {
    return refusal(std::string("comparator=") + options.comparator->Name(),
                   "one without user-defined timestamps",
                   std::string("versions of other times lie in other files") + kReadAll);
  }
  if (options.comparator->CanKeysWithDifferentByteContentsBeEqual() && HasKeyColumns(condition)) {
    return refusal(std::string("comparator=") + options.comparator->Name(),
                   "for columns of the key, one that tells all keys apart",
                   std::string("versions of a row may differ in them") + kUseScan);
  }
  if (AllowsIngestBehind(options)) {
    return refusal("allow_ingest_behind", "false",
                   std::string("ingested files may be older than all others") + kUseScan);
  }
  if (ConvertsTombstones(options)) {
    return refusal("min_tombstones_for_range_conversion", "0",
                   std::string("RocksDB then refuses iterators that leave files out") + kReadAll);
  }
  return CheckIsNoSecondary(db, column_family);
}

// Decides for all files of the decision. `by_keys_alone`: values prune nothing, wherever a file
// lies. REQUIRES: there is a condition
void Decide(std::shared_ptr<rocksdb::FileSystem> file_system, uint32_t value_suffix_bytes,
            bool by_keys_alone, ReadPruning::Decision* decision) {
  const FamilyFiles& known = *decision->files;
  const Predicate& condition = *decision->condition;
  const std::span<const FamilyFiles::File> files = known.files();
  std::vector<FileDecision>& decisions = decision->decisions;
  decisions.assign(files.size(), {&ReadPruningCounts::files_without_index});
  if (known.have_properties()) {
    FileAsker asker(known, condition, std::move(file_system), value_suffix_bytes);
    const std::vector<OlderEntries> everywhere(by_keys_alone ? files.size() : 0,
                                               OlderEntries::kInOtherFiles);
    decisions =
        DecideReads(known.places(),
                    by_keys_alone ? std::span<const OlderEntries>(everywhere)
                                  : std::span<const OlderEntries>(known.older()),
                    HasKeyColumns(condition), [&](size_t file) { return asker.Open(file); });
    asker.Keep();
  }
  ReadPruningCounts& counts = decision->counts;
  counts.num_files = files.size();
  for (const auto& [id, i, num_bytes] : known.by_id()) {
    const auto& [verdict, blocks] = decisions[i];
    ++(counts.*verdict);
    counts.num_bytes += num_bytes;
    if (verdict == &ReadPruningCounts::files_pruned) {
      counts.bytes_pruned += num_bytes;
      decision->pruned.push_back(*id);
    }
    if (blocks) {
      decision->by_block.try_emplace(*files[i].table->block_index, &condition, value_suffix_bytes,
                                     *blocks);
    }
  }
}

// Copies the bytes of a bound, and lets the option point to the copy.
void OwnBound(const rocksdb::Slice** option, std::string* bytes, rocksdb::Slice* bound) {
  if (*option == nullptr) return;
  *bytes = (*option)->ToString();
  *bound = *bytes;
  *option = bound;
}

// `base` with the decision in it. `filters_files`: by the table filter.
std::shared_ptr<ReadPruning> MakePruning(const rocksdb::ReadOptions& base,
                                         std::shared_ptr<ReadPruning::Decision> decision,
                                         bool filters_files,
                                         const rocksdb::ColumnFamilyOptions& family) {
  auto reads = std::make_unique<ReadPruning::Reads>();
  rocksdb::ReadOptions& options = reads->options = base;
  OwnBound(&options.iterate_lower_bound, &reads->lower_bytes, &reads->lower);
  OwnBound(&options.iterate_upper_bound, &reads->upper_bytes, &reads->upper);
  decision->others = ToTableFilter(base.table_filter);
  if (const auto* const earlier = decision->others.target<DecisionFilter>())
    decision->others = TableFilter(earlier->others());
  reads->filter = filters_files ? TableFilter(DecisionFilter(decision)) : decision->others;
  options.table_filter = {};
  if (reads->filter) SetTableFilter(reads->filter, &options);
  reads->choice = NewBlockIndexChoice(&decision->by_block);
  ChooseIndex(FindBlockIndexOptions(family) ? reads->choice.get() : nullptr, &options);
  if (options.iterate_upper_bound != nullptr && IsRangeExtractor(family.prefix_extractor.get()))
    options.auto_prefix_mode = true;
  if (!decision->by_block.empty()) ReadNoBlocksBetween(&options);
  return std::make_shared<ReadPruning>(std::move(decision), std::move(reads));
}

}  // namespace

ReadPruning::ReadPruning(std::shared_ptr<const Decision> decision,
                         std::unique_ptr<const Reads> reads)
    : decision_(std::move(decision)), reads_(std::move(reads)) {}
ReadPruning::~ReadPruning() = default;

const rocksdb::ReadOptions& ReadPruning::read_options() const { return reads_->options; }

bool ReadPruning::Matches(const rocksdb::Slice& key, const rocksdb::Slice& value) const {
  return !decision_->condition ||
         decision_->condition->Matches(Row(key.ToStringView(), value.ToStringView()));
}

std::string ReadPruning::ToString() const {
  if (!decision_->reads_all.empty()) return "reads all: " + decision_->reads_all;
  const ReadPruningCounts now = counts();
  std::string text;
  for (const auto& [name, count] : {std::pair("files", now.num_files),
                                    {"pruned", now.files_pruned},
                                    {"by block", now.files_by_block},
                                    {"matching", now.files_matching},
                                    {"above older", now.files_above_older},
                                    {"sharing keys", now.files_sharing_keys},
                                    {"without index", now.files_without_index},
                                    {"of writers", now.files_of_writers},
                                    {"not unique", now.files_not_unique},
                                    {"blocks", now.num_blocks},
                                    {"blocks left out", now.blocks_left_out}}) {
    if (count != 0 || text.empty()) text += (text.empty() ? "" : ", ") + ToText(count) + ' ' + name;
  }
  return text;
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

// PruneReads by a parsed condition.
static rocksdb::Status PruneReadsBy(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                    const rocksdb::Options& options, const Predicate& condition,
                                    const rocksdb::ReadOptions& base, bool can_lack_bases,
                                    std::shared_ptr<ReadPruning>* pruning) {
  BLOCKSIEVE_RETURN_IF_ERROR(
      CheckPrunable(db, column_family, options, condition, base, can_lack_bases));
  auto decision = std::make_shared<ReadPruning::Decision>(condition);
  BLOCKSIEVE_RETURN_IF_ERROR(FamilyFiles::Read(db, column_family, &decision->files));
  const bool filters_files = decision->files->have_properties();
  Decide(db->GetEnv()->GetFileSystem(), HiddenSuffixBytes(db, options),
         /*by_keys_alone=*/options.merge_operator != nullptr, decision.get());
  *pruning = MakePruning(base, std::move(decision), filters_files, options);
  return rocksdb::Status::OK();
}

rocksdb::Status rocksdb_plugin::PruneOrReadAll(
    rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family, const rocksdb::Options& options,
    const std::optional<Predicate>& condition, const rocksdb::ReadOptions& base,
    bool can_lack_bases, std::shared_ptr<ReadPruning>* pruning) {
  if (base.iter_start_ts != nullptr) {
    return rocksdb::Status::InvalidArgument(
        "blocksieve: option read_options.iter_start_ts is set; allowed: null, as it shows versions "
        "of rows and not rows");
  }
  rocksdb::Status status = CheckNotTailing(base);
  if (status.ok() && condition)
    status = PruneReadsBy(db, column_family, options, *condition, base, can_lack_bases, pruning);
  if (!status.IsNotSupported() && (!status.ok() || condition)) return status;
  auto decision = std::make_shared<ReadPruning::Decision>(condition);
  decision->reads_all = status.ok() ? "no condition" : ToMessage(status);
  *pruning = MakePruning(base, std::move(decision), /*filters_files=*/false, options);
  return rocksdb::Status::OK();
}

rocksdb::Status rocksdb_plugin::ParseCondition(std::string_view text,
                                               const rocksdb::ColumnFamilyOptions& options,
                                               Predicate* condition) {
  ColumnList columns;
  BLOCKSIEVE_RETURN_IF_ERROR(FindColumns(options, &columns));
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

rocksdb::Status PruneReads(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                           std::string_view condition, const rocksdb::ReadOptions& base,
                           std::shared_ptr<ReadPruning>* pruning) {
  return PublicCall({{"db", db}, {"pruning", pruning}}, [&]() -> rocksdb::Status {
    if (column_family == nullptr) column_family = db->DefaultColumnFamily();
    const rocksdb::Options options = db->GetOptions(column_family);
    if (condition.empty() && FindBlockIndexOptions(options)) {
      *pruning = MakePruning(base, std::make_shared<ReadPruning::Decision>(std::nullopt),
                             /*filters_files=*/false, options);
      return rocksdb::Status::OK();
    }
    if (condition.empty()) {
      return rocksdb::Status::InvalidArgument(
          "blocksieve: the condition is empty; allowed: one such as \"n = 7\", or, for ranges "
          "alone, an empty one with a block index in the column family's options");
    }
    Predicate predicate = Predicate::Constant(true);
    BLOCKSIEVE_RETURN_IF_ERROR(ParseCondition(condition, options, &predicate));
    return PruneReadsBy(db, column_family, options, predicate, base, /*can_lack_bases=*/false,
                        pruning);
  });
}

}  // namespace blocksieve
