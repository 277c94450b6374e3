// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/rocksdb/skip_index.h"

#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <cassert>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "blocksieve/rocksdb/prune_reads.h"
#include "integration/rocksdb/block_index/factory.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/scan/candidate_scan.h"
#include "integration/rocksdb/scan/scan_context.h"
#include "integration/rocksdb/scan/scan_plan.h"
#include "lib/base/errors.h"

// A scan pins its sources in this order. In a randomised check against full scans, other orders
// lost rows.
//   1. The snapshot.
//   2. The memtables.
//   3. The list of files, which includes rows flushed since.
//   4. The merged view, before pruning: it keeps files that are deleted meanwhile.

namespace blocksieve {

using namespace rocksdb_plugin;  // NOLINT: the same component

namespace {

/// Adds the blocks that this thread reads during the object's lifetime to the counts.
class BlockCounter {
 public:
  BlockCounter(bool enabled, ScanExplanation* counts)
      : counts_(enabled ? counts : nullptr), level_(rocksdb::GetPerfLevel()) {
    if (counts_ == nullptr) return;
    if (level_ < rocksdb::PerfLevel::kEnableCount) {
      rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    }
    blocks_ = Blocks();
    other_blocks_ = OtherBlocks();
    bytes_ = rocksdb::get_perf_context()->block_read_byte;
  }
  BlockCounter(const BlockCounter&) = delete;
  BlockCounter& operator=(const BlockCounter&) = delete;
  ~BlockCounter() {
    if (counts_ == nullptr) return;
    const uint64_t other = OtherBlocks() - other_blocks_;
    counts_->other_blocks_read += other;
    counts_->data_blocks_read += Blocks() - blocks_ - other;
    counts_->block_bytes_read += rocksdb::get_perf_context()->block_read_byte - bytes_;
    rocksdb::SetPerfLevel(level_);
  }

 private:
  static uint64_t Blocks() { return rocksdb::get_perf_context()->block_read_count; }
  static uint64_t OtherBlocks() {
    const rocksdb::PerfContext& context = *rocksdb::get_perf_context();
    return context.index_block_read_count + context.filter_block_read_count +
           context.compression_dict_block_read_count;
  }

  ScanExplanation* const counts_;
  const rocksdb::PerfLevel level_;
  uint64_t blocks_ = 0;
  uint64_t other_blocks_ = 0;
  uint64_t bytes_ = 0;
};

rocksdb::Status CheckOrder(const SkipScanOptions& options) {
  if (options.order) {
    if (options.limit == 0) return OptionOutOfRange("limit", "0", "1 or more with an order");
    if (options.reverse) {
      return OptionOutOfRange("reverse", "true", "false with an order; set order.is_descending");
    }
    if (options.order->column.has_tokens()) {
      return OptionOutOfRange("order", "by " + options.order->column.name(),
                              "a column of whole values, not words or n-grams");
    }
  }
  double ignored = 0;
  return ParseValue({"max_rechecked_share", "", 0, 1}, ToText(options.max_rechecked_share),
                    &ignored);
}

/// Whether files are pruned when the scan reaches them: a scan of so few rows seldom reaches all.
bool IsLazy(const SkipScanOptions& options) {
  constexpr uint64_t kMaxRows = 1000;
  return !options.order && options.limit != 0 && options.limit <= kMaxRows;
}

/// Adds to the predicate that a row has a value of the order's column, if an order is set.
Result<Predicate> AddOrderCondition(const Predicate& predicate, const SkipScanOptions& options) {
  if (!options.order) return predicate;
  Result<Predicate> has_value = Predicate::Not(Predicate::IsMissing(options.order->column));
  if (!has_value.ok()) return has_value;
  return Predicate::And(std::vector<Predicate>{predicate, *has_value});
}

}  // namespace

class SkipScan::Parts {
 public:
  Parts(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
        const rocksdb::Options& db_options, const Predicate& predicate,
        const SkipScanOptions& options)
      : options_(options) {
    context_.db = db;
    context_.column_family = column_family;
    context_.comparator = column_family->GetComparator();
    context_.file_system = db->GetEnv()->GetFileSystem();
    context_.predicate = predicate;
    context_.reverse = options.reverse;
    context_.limit = options.limit;
    context_.progress = options.progress;
    // A scan with an order reads few of the selected granules, so re-checking costs little.
    context_.max_rechecked_share = options.order ? 1 : options.max_rechecked_share;
    context_.has_merges = db_options.merge_operator != nullptr;
    context_.value_suffix_bytes = HiddenSuffixBytes(db, db_options);
    context_.read_options = ScanReadOptions(options.read_options);
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() {
    scan_.reset();
    if (owned_snapshot_ != nullptr) context_.db->ReleaseSnapshot(owned_snapshot_);
  }

  rocksdb::Status Start(const rocksdb::Options& db_options) {
    const BlockCounter counter(options_.explain, &context_.counts);
    if (options_.snapshot == nullptr) owned_snapshot_ = context_.db->GetSnapshot();
    context_.read_options.snapshot =
        options_.snapshot != nullptr ? options_.snapshot : owned_snapshot_;
    if (context_.read_options.snapshot == nullptr) {
      return rocksdb::Status::NotSupported(
          "blocksieve: scans need a snapshot, and GetSnapshot() of this database returns null");
    }
    context_.sequence = context_.read_options.snapshot->GetSequenceNumber();
    bool is_open = false;
    BLOCKSIEVE_RETURN_IF_ERROR(OpenByIndex(db_options, &is_open));
    if (!is_open) {
      context_.counts.is_full_scan = true;
      if (context_.indexes->CanPrune()) ReadByBlock(db_options, context_.predicate);
      context_.db->GetIntProperty(context_.column_family, rocksdb::DB::Properties::kEstimateNumKeys,
                                  &context_.counts.rows_planned);
      auto all = std::make_unique<MergedRanges>(&context_);
      all->Add({});
      // A secondary instance refuses iterators at a snapshot.
      BLOCKSIEVE_RETURN_IF_ERROR(Open(std::move(all), nullptr, ScanPlan()));
    }
    context_.counts.rows_returned += Valid();
    return rocksdb::Status::OK();
  }

  bool Valid() const { return next_row_ < rows_.size(); }

  void Next() try {
    assert(Valid());
    const BlockCounter counter(options_.explain, &context_.counts);
    if (options_.limit != 0 && context_.counts.rows_returned == options_.limit) {
      rows_.clear();
      return;
    }
    if (++next_row_ == rows_.size()) status_ = NextBatch();
    context_.counts.rows_returned += Valid();
  } catch (const std::bad_alloc&) {
    rows_.clear();
    status_ = rocksdb::Status::MemoryLimit();
  }

  const rocksdb::Status& status() const { return status_; }
  const ScannedRow& row() const { return rows_[next_row_]; }
  const ScanExplanation& counts() const { return context_.counts; }

 private:
  rocksdb::Status NextBatch() {
    next_row_ = 0;
    rows_.clear();
    if (scan_ == nullptr) return rocksdb::Status::OK();  // all rows of an order were read
    rocksdb::Status status = scan_->NextBatch(&rows_);
    if (!status.ok()) rows_.clear();
    return status;
  }

  rocksdb::Status Open(std::unique_ptr<MergedRanges> ranges,
                       std::unique_ptr<CandidateSource> memtables, ScanPlan plan) {
    if (options_.order) {
      return ReadFirstRows(&context_, *options_.order, options_.limit, std::move(ranges),
                           std::move(memtables), std::move(plan), &rows_);
    }
    scan_ = std::make_unique<CandidateScan>(&context_, std::move(ranges), std::move(memtables),
                                            std::move(plan));
    return NextBatch();
  }

  // Lets iterators read by block indexes, if there are any: without a condition, ranges end with
  // their blocks; with one, blocks are left out of files below which is nothing older.
  void ReadByBlock(const rocksdb::Options& db_options, const std::optional<Predicate>& condition) {
    const auto index = FindBlockIndexOptions(db_options);
    if (!index || index->columns.empty()) return;
    if (PruneOrReadAll(context_.db, context_.column_family, db_options, condition,
                       context_.read_options, /*can_lack_bases=*/false, &pruning_)
            .ok()) {
      context_.read_options = pruning_->read_options();
    }
  }

  /// Opens the scan, unless it must be a full scan; the reason is in the counts then.
  rocksdb::Status OpenByIndex(const rocksdb::Options& db_options, bool* is_open) {
    ScanExplanation& counts = context_.counts;
    const ScanPruner& indexes = context_.indexes.emplace(
        context_.predicate, &counts,
        ScanPrunerOptions{.use_index = options_.use_index, .count_comparisons = options_.explain});
    if (!indexes.CanPrune()) return rocksdb::Status::OK();
    if (ConvertsTombstones(db_options)) {
      // RocksDB refuses iterators of single files then, and those of memtables would convert runs
      // of tombstones that have live rows of files between them.
      counts.full_scan_reason = "option min_tombstones_for_range_conversion is not 0";
      return rocksdb::Status::OK();
    }
    ReadByBlock(db_options, std::nullopt);
    std::optional<GranuleCounter> counter;
    if (options_.count_only && options_.limit == 0) counter.emplace(&context_);
    auto ranges = std::make_unique<MergedRanges>(&context_);
    auto memtables = std::make_unique<CandidateSource>(&context_, ranges.get());
    BLOCKSIEVE_RETURN_IF_ERROR(memtables->status());
    std::shared_ptr<const FamilyFiles> files;
    const rocksdb::Status status = FamilyFiles::Read(context_.db, context_.column_family, &files);
    std::string problem;
    if (!status.ok()) problem = "table properties unreadable: " + status.ToString();
    if (files != nullptr && !files->have_properties()) {
      for (const auto& table : files->tables()) {
        if (LacksProperties(*table->properties))
          problem = BaseName(table->path) + " was written without properties";
      }
    }
    if (!problem.empty()) {
      counts.full_scan_reason = problem;
      return rocksdb::Status::OK();
    }
    ranges->Pin();

    context_.counter = counter ? &*counter : nullptr;
    ScanPlan plan = MakePlan(&context_, std::move(files), IsLazy(options_));
    context_.counter = nullptr;
    if (!counts.full_scan_reason.empty()) {
      counts.granules_counted = counts.rows_returned = 0;
      return rocksdb::Status::OK();
    }
    *is_open = true;
    return Open(std::move(ranges), std::move(memtables), std::move(plan));
  }

  const SkipScanOptions options_;
  ScanContext context_;
  const rocksdb::Snapshot* owned_snapshot_ = nullptr;
  std::shared_ptr<ReadPruning> pruning_;  // of reads by the block index
  std::unique_ptr<CandidateScan> scan_;   // null with an order
  std::vector<ScannedRow> rows_;          // the current batch, or all rows of an order
  size_t next_row_ = 0;                   // the current one
  rocksdb::Status status_;
};

SkipScan::SkipScan(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SkipScan::~SkipScan() = default;

rocksdb::Status SkipScan::Open(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                               const rocksdb::Options& db_options, const Predicate& predicate,
                               const SkipScanOptions& options, std::unique_ptr<SkipScan>* scan) {
  BLOCKSIEVE_RETURN_IF_ERROR(CheckScannable(db_options, options.read_options));
  BLOCKSIEVE_RETURN_IF_ERROR(CheckOrder(options));
  const Result<Predicate> wanted = AddOrderCondition(predicate, options);
  if (!wanted.ok()) return ToRocksStatus(wanted.status());
  auto parts = std::make_unique<Parts>(db, column_family, db_options, *wanted, options);
  rocksdb::Status status = parts->Start(db_options);
  if (status.IsNotSupported()) {
    return rocksdb::Status::NotSupported(
        "blocksieve: scans need iterators at a snapshot, which this database does not support "
        "(it may be a secondary instance)",
        status.ToString());
  }
  if (status.ok() && options.count_only) {
    while (parts->Valid()) parts->Next();
    status = parts->status();
  }
  if (status.ok()) scan->reset(new SkipScan(std::move(parts)));
  return status;
}

rocksdb::Status SkipScan::Create(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                 const Predicate& predicate, const SkipScanOptions& options,
                                 std::unique_ptr<SkipScan>* scan) {
  return PublicCall({{"db", db}, {"scan", scan}}, [&]() -> rocksdb::Status {
    scan->reset();
    if (column_family == nullptr) column_family = db->DefaultColumnFamily();
    return Open(db, column_family, db->GetOptions(column_family), predicate, options, scan);
  });
}

rocksdb::Status SkipScan::Create(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family,
                                 std::string_view query, const SkipScanOptions& options,
                                 std::unique_ptr<SkipScan>* scan) {
  return PublicCall({{"db", db}, {"scan", scan}}, [&]() -> rocksdb::Status {
    scan->reset();
    if (column_family == nullptr) column_family = db->DefaultColumnFamily();
    const rocksdb::Options db_options = db->GetOptions(column_family);
    ColumnList columns;
    BLOCKSIEVE_RETURN_IF_ERROR(FindColumns(db_options, &columns));
    Result<Query> parsed = Query::Parse(query, columns);
    if (!parsed.ok()) return ToRocksStatus(parsed.status());
    SkipScanOptions scanning = options;
    if (parsed->order || parsed->limit != 0) {
      if (options.order || options.limit != 0) {
        return rocksdb::Status::InvalidArgument(
            "blocksieve: the query and the options both set an order or a limit; allowed: one of "
            "them");
      }
      scanning.order = std::move(parsed->order);
      scanning.limit = parsed->limit;
    }
    return Open(db, column_family, db_options, parsed->predicate, scanning, scan);
  });
}

bool SkipScan::Valid() const { return parts_->Valid(); }
void SkipScan::Next() { parts_->Next(); }
rocksdb::Slice SkipScan::key() const {
  assert(Valid());
  return parts_->row().key;
}
rocksdb::Slice SkipScan::value() const {
  assert(Valid());
  return parts_->row().value;
}
rocksdb::Status SkipScan::status() const { return parts_->status(); }
ScanExplanation SkipScan::Explain() const { return parts_->counts(); }

}  // namespace blocksieve
