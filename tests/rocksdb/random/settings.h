#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <string>

#include "blocksieve/column.h"
#include "tests/support/operations.h"
#include "tests/support/test_db.h"

namespace blocksieve::testing {

/// The settings of one opening, from the arguments of `open` or `reopen`: RocksDB's options, whose
/// names start with "db.", "cf." or "table.", and others, whose names and values stand in the
/// table of settings.cc. Arguments that RocksDB or blocksieve would refuse together are ignored.
//
// Left out, because RocksDB 7.8.3 to 11.8 fails here even with stock filters or none:
// - another prefix extractor by SetOptions, while iterators have the old one;
// - max_sequential_skip_in_iterations = 0;
// - range deletes and merges in the same database, and tailing iterators with either or with blobs;
// - RepairDB of range deletes and ingested files: reads of one moment differ;
// - async_io with readahead;
// - pin_data with timestamps: Prev of 7.8.3 writes into keys of the memtable;
// - write policies but the first with universal compaction: 9.10 locks its mutex twice;
// - blobs in files placed by age: an assertion;
// - MultiGet and MultiScan of the write policies but the first, which show rows that are not
//   committed, and read-only and secondary instances, which do not read their logs.
class Settings {
 public:
  /// `earlier`: the settings of the last opening, of which some stay for life. Null: none.
  Settings(const Operation& opening, const Settings* earlier);

  bool Has(const std::string& name) const { return args_.Has(name); }
  std::string Get(const std::string& name) const { return args_.Get(name, ""); }
  bool Is(const std::string& name, const std::string& value) const { return Get(name) == value; }

  DbConfig ToConfig() const;
  const Operation& operation() const { return args_; }

  const rocksdb::Comparator* comparator() const;
  bool has_timestamps() const { return Is("comparator", "timestamps"); }
  bool is_bytewise() const { return !Has("comparator"); }
  bool is_universal() const { return Is("cf.compaction_style", "kCompactionStyleUniversal"); }
  bool is_fifo() const { return Is("cf.compaction_style", "kCompactionStyleFIFO"); }
  bool has_block_index() const { return Is("index", "block") || Is("index", "primary"); }

  /// Whether the extractor is one of RocksDB, so that only seeks in total order find every key; or
  /// only these and those with auto_prefix_mode.
  bool NeedsTotalOrder() const;
  bool has_other_extractor() const;

  /// What PruneReads and SkipScan accept. `by_value`: a condition.
  bool CanPrune(bool by_value) const;
  /// Whether conditions are on columns of the options, as NewIterator needs.
  bool HasColumns() const;
  bool CanScan() const { return !has_timestamps() && !Has("db.unordered_write"); }
  bool CanMultiScan() const;
  /// Whether batched MultiGet and MultiScan hide rows that are not committed.
  bool HidesUncommitted() const { return !Has("transactions") || Is("transactions", "committed"); }
  /// Whether iterators may have a table filter.
  bool CanFilterTables() const { return !Has("cf.min_tombstones_for_range_conversion"); }

  /// The columns of all indexes: n, a number, w, words, and k, the last byte of the key.
  static const ColumnList& Columns();

 private:
  void Settle();
  void Remove(const std::string& name);

  Operation args_;
};

/// Draws arguments of an opening. `verb` is open or reopen.
Operation DrawSettings(const std::string& verb, Dice* dice);

/// A rule of prefixes for filters and block indexes.
std::string DrawPrefixRule(Dice* dice);

/// The merged value: the last 60 bytes of the value with the operand appended.
void MergeInto(std::string* value, std::string_view operand);
/// Whether a merge of the operand fails without a value below.
inline bool NeedsBase(std::string_view operand) { return operand.size() % 2 == 1; }

}  // namespace blocksieve::testing
