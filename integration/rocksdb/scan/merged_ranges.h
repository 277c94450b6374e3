#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/iterator.h>

#include <list>
#include <memory>
#include <optional>
#include <string>

#include "integration/rocksdb/scan/scan_context.h"

namespace blocksieve::rocksdb_plugin {

/// Iterates over one key range after the other, in the direction of the scan. Passes the end of
/// each range to RocksDB: otherwise an iterator that finds nothing visible at its snapshot would
/// run on, possibly to the end of the database.
class BoundedIterator {
 public:
  /// REQUIRES: `options` have no bounds. `context` must outlive this.
  BoundedIterator(const ScanContext* context, const rocksdb::ReadOptions& options);

  /// Pins the current files and memtables for ranges that have the ends that this one has, unless
  /// this was done before, and returns whether it did. Otherwise, Seek does.
  bool Pin(const ScanRange& like);

  void Seek(const ScanRange& range);

  /// False at the end of the range and after an error.
  bool Valid() const { return valid_; }
  /// REQUIRES: Valid()
  void Next();
  rocksdb::Slice key() const { return iterator_->key(); }
  rocksdb::Slice value() const { return iterator_->value(); }

  rocksdb::Status status() const;

 private:
  std::optional<std::string> FindBound(const ScanRange& range) const;
  void CheckEnd();

  const ScanContext* const context_;
  rocksdb::ReadOptions options_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
  bool has_bound_ = false;  // of iterator_
  std::optional<std::string> end_;
  std::string bound_bytes_;
  rocksdb::Slice bound_;  // the iterator's options point to it
  bool valid_ = false;
  bool at_end_ = false;  // at the last possible key of the range
};

/// Reads key ranges on the normal, merged view of the database. Its rows are final: neither they
/// nor other keys inside the ranges need a lookup.
class MergedRanges {
 public:
  /// `context` must outlive this.
  explicit MergedRanges(ScanContext* context);

  /// Pins the current view, so that ranges can be read later even if files are deleted meanwhile.
  void Pin() { view_.Pin({"x", "x"}); }

  /// Adds a range to read. REQUIRES: it does not begin before the position of the scan.
  void Add(ScanRange range);

  /// Whether the key is in the last range read, or in the current one. REQUIRES: all candidates of
  /// this source before the key were taken.
  bool Covers(const rocksdb::Slice& key) const;

  /// Cuts off the covered start of a range. False if nothing of it is left.
  bool CutCovered(ScanRange* range) const;

  /// @{
  /// As in CandidateSource.
  bool Done() const { return !positioned_ && ranges_.empty(); }
  std::optional<rocksdb::Slice> Bound() const;
  bool IsPositioned() const { return positioned_; }
  void Position();
  void Next();
  /// @}

  /// REQUIRES: IsPositioned()
  rocksdb::Slice value() const { return view_.value(); }

  rocksdb::Status status() const { return view_.status(); }

 private:
  void CountRow();

  ScanContext* const context_;
  BoundedIterator view_;
  std::list<ScanRange> ranges_;       // still to be read, in the order of their starts
  std::optional<ScanRange> covered_;  // the last or current range
  bool positioned_ = false;
};

}  // namespace blocksieve::rocksdb_plugin
