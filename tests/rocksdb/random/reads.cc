// SPDX-License-Identifier: Apache-2.0
#include "tests/rocksdb/random/reads.h"

#include <algorithm>

#include "integration/rocksdb/compat/user_index.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "lib/base/altered_answers.h"

namespace blocksieve::testing {
namespace {

using rocksdb_plugin::TableFilter;

std::string Print(const ScannedRows& rows) {
  Operation shown{"rows"};
  for (const auto& [key, value] : rows) shown.Add("key", key).Add("value", value);
  std::string text = ToText({shown});
  text.pop_back();
  return text;
}

void Get(const Operation& operation, const View& view, const ReadContext& context) {
  rocksdb::ReadOptions read = ToReadOptions(operation, *context.settings);
  const rocksdb::Slice timestamp(view.timestamp);
  if (!view.timestamp.empty()) read.timestamp = &timestamp;
  read.snapshot = view.snapshot;
  // Bounds are for iterators.
  const std::string upper = operation.Get("upper");
  const rocksdb::Slice bound(upper);
  if (operation.Has("upper")) read.iterate_upper_bound = &bound;
  const std::vector<std::string> keys = operation.All("key");
  const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  if (operation.verb == "multiget" && context.settings->HidesUncommitted()) {
    view.db->MultiGet(read, view.family, keys.size(), slices.data(), values.data(),
                      statuses.data());
  } else {
    for (size_t i = 0; i < keys.size(); ++i)
      statuses[i] = view.db->Get(read, view.family, slices[i], &values[i]);
  }
  ScannedRows rows;
  ScannedRows expected;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!statuses[i].IsNotFound() && context.comparer->Must(operation, statuses[i]))
      rows.emplace_back(keys[i], values[i].ToString());
    if (const auto row = view.rows->find(keys[i]); row != view.rows->end())
      expected.emplace_back(*row);
  }
  context.comparer->Compare(operation, operation.verb, rows, expected);
}

void Scan(const Operation& operation, const View& view, const ReadContext& context,
          const std::shared_ptr<ReadPruning>& pruning, const MakeIterator& make) {
  Operation bounded = operation;
  if (operation.Has("end")) bounded.Add("upper", operation.Get("end"));
  // Iterators over changes know no lower bound.
  const bool back = operation.Has("back") && operation.Get("of") != "changes";
  if (back) bounded.Add("lower", operation.Get("begin"));
  KeptIterator iterator(bounded, view, pruning, context, make);
  Operation move = operation;
  const bool is_seek = !back && operation.Has("begin");
  move.Add("to", back ? "last" : is_seek ? "seek" : "first").Add("key", operation.Get("begin"));
  iterator.Move(move);
  Operation next = operation;
  next.Add("to", back ? "prev" : "next");
  while (iterator.is_at_row()) iterator.Move(next);
}

// RocksDB announces all ranges to the block index.
void MultiScan([[maybe_unused]] const Operation& operation, [[maybe_unused]] const View& view,
               [[maybe_unused]] const ReadContext& context,
               [[maybe_unused]] const std::shared_ptr<ReadPruning>& pruning) {
#if BLOCKSIEVE_HAS_USER_INDEX
  if (!context.settings->CanMultiScan()) return;
  const auto matches = [&](const auto& row) {
    return pruning == nullptr || pruning->Matches(row.first, row.second);
  };
  const std::vector<std::string> begins = operation.All("begin");
  const std::vector<std::string> ends = operation.All("end");
  std::vector<std::pair<std::string, std::string>> ranges;
  for (size_t i = 0; i < std::min(begins.size(), ends.size()); ++i)
    ranges.emplace_back(begins[i], ends[i]);
  std::ranges::sort(ranges);
  rocksdb::MultiScanArgs args(rocksdb::BytewiseComparator());
  args.use_async_io = operation.Has("async");
  ScannedRows expected;
  const std::string* last_end = nullptr;
  for (const auto& [begin, end] : ranges) {
    if (begin >= end || (last_end != nullptr && begin < *last_end)) continue;
    args.insert(begin, end);
    last_end = &end;
    for (auto row = view.rows->lower_bound(begin); row != view.rows->lower_bound(end); ++row) {
      if (matches(*row)) expected.emplace_back(*row);
    }
  }
  if (args.empty()) return;
  rocksdb::ReadOptions read = pruning ? pruning->read_options() : rocksdb::ReadOptions();
  read.total_order_seek = true;
  read.snapshot = view.snapshot;
  ScannedRows rows;
  try {
    const auto scans = view.db->NewMultiScan(read, view.family, args);
    for (auto scan : *scans) {
      for (auto row : scan) {
        if (matches(row)) rows.emplace_back(row.first.ToString(), row.second.ToString());
      }
    }
  } catch (const std::exception& error) {
    return context.comparer->Fail(operation, error.what());
  }
  context.comparer->Compare(operation, "multiscan", rows, expected);
#endif
}

void Skip(const Operation& operation, const View& view, const ReadContext& context) {
  if (!context.settings->CanScan()) return;
  const ColumnList& columns = Settings::Columns();
  const Predicate predicate = Where(operation.Get("where", "n > 0"), columns);
  SkipScanOptions options;
  if (!operation.Has("rereads_less")) options.max_rechecked_share = 1;
  options.explain = operation.Has("explain");
  options.snapshot = view.snapshot;
  options.limit = operation.Number("limit");
  options.reverse = operation.Has("reverse");
  options.count_only = operation.Has("count");
  if (operation.Has("order")) {
    options.order = ScanOrder{columns[0], operation.Get("order") == "descending"};
    options.limit = std::max<uint64_t>(options.limit, 1);
    options.reverse = false;
  }
  ScannedRows expected;
  for (const auto& row : *view.rows) {
    if (predicate.Matches(Row(row.first, row.second))) expected.emplace_back(row);
  }
  if (options.reverse) std::ranges::reverse(expected);
  if (options.order) expected = Sorted(expected, *options.order, options.limit);
  if (options.limit != 0 && expected.size() > options.limit) expected.resize(options.limit);
  std::unique_ptr<SkipScan> scan;
  if (!context.comparer->Must(operation,
                              SkipScan::Create(view.db, view.family, predicate, options, &scan)))
    return;
  ScannedRows rows;
  for (; scan->Valid(); scan->Next())
    rows.emplace_back(scan->key().ToString(), scan->value().ToString());
  if (!context.comparer->Must(operation, scan->status())) return;
  context.totals->Add(scan->Explain());
  if (options.count_only) {
    rows = {{"count", std::to_string(scan->Explain().rows_returned)}};
    expected = {{"count", std::to_string(expected.size())}};
  }
  context.comparer->Compare(operation, "skipscan", rows, expected);
}

}  // namespace

void ReadTotals::Add(const ReadPruning& pruning) {
  const ReadPruningCounts counts = pruning.counts();
  tables += counts.tables_asked;
  tables_left_out += counts.tables_left_out;
  blocks_left_out += counts.blocks_left_out;
}

void ReadTotals::Add(const ScanExplanation& scan) {
  scans_skipping += !scan.is_full_scan && scan.granules_selected < scan.num_granules / 2;
  files_vanished += scan.files_vanished;
  too_new += scan.files_too_new + scan.granules_too_new;
  rows_rechecked += scan.rows_rechecked;
  granules_counted += scan.granules_counted;
}

std::string Comparer::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Comparer::Fail(const Operation& operation, const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (!has_failed_.exchange(true)) failure_ = ToText({operation}) + what;
}

bool Comparer::Must(const Operation& operation, const rocksdb::Status& status) {
  if (status.ok()) return true;
  // A place has failed.
  if (internal::kCanAlterAnswers && status.IsMemoryLimit()) return false;
  // RocksDB 7.8.3 compacts no files placed by age while snapshots are held. This ends the run.
  if (status.ToString().find("per_key_placement") == std::string::npos) {
    Fail(operation, status.ToString());
  } else {
    has_failed_ = true;
  }
  return false;
}

void Comparer::Spoil(ScannedRows* rows) const {
  const auto is_spoilt = [&](const auto& row) { return fault_.flushed.contains(row.first); };
  if (fault_.loses) {
    std::erase_if(*rows, is_spoilt);
  } else {
    for (auto& row : *rows) {
      if (is_spoilt(row)) row.second = fault_.flushed.at(row.first);
    }
  }
}

void Comparer::Compare(const Operation& operation, const std::string& reader, ScannedRows rows,
                       const ScannedRows& expected) {
  if (reader == fault_.reader) Spoil(&rows);
  if (rows == expected) return;
  // Only where they differ.
  ScannedRows other = expected;
  const auto [first, other_first] = std::ranges::mismatch(rows, other);
  constexpr ptrdiff_t kShown = 3;
  rows = {first, first + std::min(kShown, rows.end() - first)};
  other = {other_first, other_first + std::min(kShown, other.end() - other_first)};
  Fail(operation, "shows " + Print(rows) + "\nand not " + Print(other));
}

RowsPtr LoadRows(const Settings& settings, const MakeIterator& make,
                 const rocksdb::Snapshot* snapshot) {
  rocksdb::ReadOptions read;
  read.total_order_seek = true;
  read.snapshot = snapshot;
  const std::string latest(8, '\xff');
  const rocksdb::Slice timestamp(latest);
  if (settings.has_timestamps()) read.timestamp = &timestamp;
  auto rows = std::make_shared<Rows>(KeyLess{settings.comparator()});
  const std::unique_ptr<rocksdb::Iterator> iterator(make(read));
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next())
    rows->emplace(iterator->key().ToString(), iterator->value().ToString());
  MustBeOk(iterator->status(), "all rows");
  return rows;
}

rocksdb::ReadOptions ToReadOptions(const Operation& operation, const Settings& settings,
                                   const rocksdb::ReadOptions& base) {
  rocksdb::ReadOptions read = base;
  const std::string mode = operation.Get("mode");
  read.auto_prefix_mode = mode == "auto";
  read.total_order_seek = mode == "total";
  read.prefix_same_as_start = operation.Has("same_prefix");
  if (settings.has_other_extractor()) {
    read.prefix_same_as_start = false;
    if (!read.auto_prefix_mode || settings.NeedsTotalOrder()) {
      read.auto_prefix_mode = false;
      read.total_order_seek = true;
    }
  }
  read.pin_data = operation.Has("pin") && !settings.has_timestamps();
  read.fill_cache = !operation.Has("leaves_cache");
  read.readahead_size = operation.Number("readahead");
  read.adaptive_readahead = operation.Has("adaptive");
  read.verify_checksums = operation.Has("checksums");
  static const TableFilter all_tables = [](const rocksdb::TableProperties&) { return true; };
  if (operation.Has("all_tables") && settings.CanFilterTables() &&
      !rocksdb_plugin::ToTableFilter(read.table_filter))
    rocksdb_plugin::SetTableFilter(all_tables, &read);
  return read;
}

std::shared_ptr<ReadPruning> Decide(const Operation& operation, const View& view,
                                    const ReadContext& context, const rocksdb::ReadOptions& base) {
  std::shared_ptr<ReadPruning> pruning;
  const std::string where = operation.Get("where");
  if (!operation.Has("where") || !context.settings->CanPrune(!where.empty())) return nullptr;
  const rocksdb::ReadOptions read = ToReadOptions(operation, *context.settings, base);
  const rocksdb::Status status = PruneReads(view.db, view.family, where, read, &pruning);
  // Refused for columns of keys whose comparator may take unlike ones for equal.
  const bool may_refuse =
      context.settings->comparator()->CanKeysWithDifferentByteContentsBeEqual() &&
      where.find('k') != where.npos;
  if (!status.IsNotSupported() || !may_refuse) context.comparer->Must(operation, status);
  return pruning;
}

KeptIterator::KeptIterator(const Operation& operation, View view,
                           std::shared_ptr<ReadPruning> pruning, const ReadContext& context,
                           const MakeIterator& make)
    : view_(std::move(view)),
      pruning_(std::move(pruning)),
      is_matching_(pruning_ == nullptr && operation.Has("matching") && view_.db != nullptr),
      context_(context),
      is_scan_(operation.verb == "scan"),
      is_of_changes_(operation.Get("of") == "changes") {
  if (operation.Has("lower")) bounds_.lower = operation.Get("lower");
  if (operation.Has("upper")) bounds_.upper = operation.Get("upper");
  if (bounds_.lower && bounds_.upper && view_.rows->key_comp()(*bounds_.upper, *bounds_.lower))
    std::swap(bounds_.lower, bounds_.upper);
  read_ = ToReadOptions(operation, *context_.settings,
                        pruning_ ? pruning_->read_options() : rocksdb::ReadOptions());
  read_.tailing = operation.Has("tailing") && context_.settings->Has("tailing") && !is_scan_ &&
                  pruning_ == nullptr && !is_matching_ && !context_.settings->has_other_extractor();
  if (read_.tailing) {
    read_.pin_data = false;
    bounds_.lower.reset();
    view_.snapshot = nullptr;
  }
  if (bounds_.lower) read_.iterate_lower_bound = &lower_;
  if (bounds_.upper) read_.iterate_upper_bound = &upper_;
  read_.snapshot = view_.snapshot;
  timestamp_ = view_.timestamp;
  if (!view_.timestamp.empty()) read_.timestamp = &timestamp_;
  const std::string where =
      is_matching_ && context_.settings->HasColumns() ? operation.Get("where") : "";
  if (!where.empty()) condition_ = Where(where, Settings::Columns());
  NewCursor();
  if (is_matching_) {
    const rocksdb::Status status =
        blocksieve::NewIterator(view_.db, view_.family, where, read_, make, &iterator_);
    context_.comparer->Must(operation, status);
    // It has copies.
    lower_ = upper_ = "unused";
    if (iterator_ == nullptr) iterator_.reset(rocksdb::NewErrorIterator(status));
  } else {
    iterator_.reset(make ? make(read_) : view_.db->NewIterator(read_, view_.family));
  }
}

// ReadOptions refer to the slices, so their addresses must not change.
void KeptIterator::NewCursor() {
  if (bounds_.lower) lower_ = *bounds_.lower;
  if (bounds_.upper) upper_ = *bounds_.upper;
  cursor_.emplace(view_.rows, bounds_, [this](const Rows::value_type& row) {
    return condition_ ? condition_->Matches(Row(row.first, row.second))
                      : pruning_ == nullptr || pruning_->Matches(row.first, row.second);
  });
  is_at_row_ = false;
}

void KeptIterator::SetRows(RowsPtr rows) {
  if (rows == view_.rows) return;
  view_.rows = std::move(rows);
  NewCursor();
}

void KeptIterator::Move(const Operation& operation) {
  const std::string to = operation.Get("to");
  const std::string key = operation.Get("key");
  const bool is_step = to == "next" || to == "prev";
  const bool back = to == "prev" || to == "last" || to == "seek_for_prev";
  if ((is_step && !is_at_row_) || (is_tailing() && back)) return;
  if (!is_step && operation.Has("upper") && bounds_.upper && !is_tailing() && !is_scan_ &&
      !is_matching_) {
    bounds_.upper = operation.Get("upper");
    NewCursor();
  }
  ++context_.totals->reads;
  context_.totals->seeks += !is_step;
  const auto move = [&](auto* iterator) {
    if (to == "next") return iterator->Next();
    if (to == "prev") return iterator->Prev();
    if (to == "last") return iterator->SeekToLast();
    if (to == "seek") return iterator->Seek(key);
    if (to == "seek_for_prev") return iterator->SeekForPrev(key);
    iterator->SeekToFirst();
  };
  move(iterator_.get());
  move(&*cursor_);
  while (pruning_ != nullptr && iterator_->Valid() &&
         !pruning_->Matches(iterator_->key(), iterator_->value()))
    back ? iterator_->Prev() : iterator_->Next();
  ScannedRows rows;
  ScannedRows expected;
  const auto is_beyond = [&](const std::string& row) {
    return is_of_changes_ && bounds_.upper && !view_.rows->key_comp()(row, *bounds_.upper);
  };
  if (iterator_->Valid() && !is_beyond(iterator_->key().ToString()))
    rows.emplace_back(iterator_->key().ToString(), iterator_->value().ToString());
  if (cursor_->Valid()) expected.emplace_back(cursor_->row());
  is_at_row_ = false;
  if (!context_.comparer->Must(operation, iterator_->status())) return;
  const char* const reader = pruning_       ? "prune"
                             : is_matching_ ? "newiterator"
                             : is_scan_     ? "scan"
                             : back         ? "backward"
                                            : "forward";
  context_.comparer->Compare(operation, reader, rows, expected);
  is_at_row_ = cursor_->Valid() && !context_.comparer->has_failed();
}

void KeptIterator::Refresh(const Operation& operation, View view) {
  // An iterator with a timestamp keeps its time.
  if (is_tailing() || view_.snapshot != nullptr || read_.timestamp != nullptr) return;
  const rocksdb::Status status = iterator_->Refresh();
  if (status.IsNotSupported() || !context_.comparer->Must(operation, status)) return;
  view_ = std::move(view);
  NewCursor();
}

void ReadOnce(const Operation& operation, const View& view, const ReadContext& context,
              const std::shared_ptr<ReadPruning>& pruning, const MakeIterator& make) {
  ++context.totals->reads;
  if (operation.verb == "scan") return Scan(operation, view, context, pruning, make);
  if (operation.verb == "multiscan") return MultiScan(operation, view, context, pruning);
  if (operation.verb == "skipscan") return Skip(operation, view, context);
  Get(operation, view, context);
}

}  // namespace blocksieve::testing
