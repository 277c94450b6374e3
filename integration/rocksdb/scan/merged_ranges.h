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

  /// Pins the current files and memtables for ranges that have the ends that this one has. Without
  /// this, the first Seek does.
  void Pin(const ScanRange& like);

  /// Whether Seek would use an existing iterator.
  bool HasIteratorFor(const ScanRange& range) const {
    return (BoundOf(range) ? bounded_ : unbounded_) != nullptr;
  }

  void Seek(const ScanRange& range);

  /// False at the end of the range and after an error.
  bool Valid() const { return valid_; }
  /// REQUIRES: Valid()
  void Next();
  rocksdb::Slice key() const { return current_->key(); }
  rocksdb::Slice value() const { return current_->value(); }

  rocksdb::Status status() const;

 private:
  std::optional<std::string> BoundOf(const ScanRange& range) const;
  /// Sets current_, and creates the iterator unless it exists.
  void UseIterator(bool with_bound);
  void CheckEnd();

  const ScanContext* const context_;
  rocksdb::ReadOptions options_;
  std::unique_ptr<rocksdb::Iterator> bounded_;
  std::unique_ptr<rocksdb::Iterator> unbounded_;
  rocksdb::Iterator* current_ = nullptr;
  std::optional<std::string> end_;
  std::string bound_bytes_;
  rocksdb::Slice bound_;  // the iterators' options point to it
  bool valid_ = false;
  bool at_end_ = false;  // at the last possible key of the range
};

/// Keys of rows that may match, in scan order. Finds them as late as possible: a source that a
/// limited scan does not reach reads nothing.
class CandidateSource {
 public:
  virtual ~CandidateSource() = default;

  /// Whether no candidate is left.
  virtual bool Done() const = 0;

  /// A key before or at the next candidate; nothing if unknown. Valid until the next call of
  /// another function. REQUIRES: !Done()
  virtual std::optional<rocksdb::Slice> Bound() const = 0;

  /// Whether Bound() is a candidate. If not, call Position().
  virtual bool IsPositioned() const = 0;

  /// Looks for the next candidate. Then the source is positioned, done, or has a later bound.
  /// REQUIRES: !Done() && !IsPositioned()
  virtual void Position() = 0;

  /// Moves past the candidate. REQUIRES: IsPositioned()
  virtual void Next() = 0;
};

/// Reads key ranges on the normal, merged view of the database. Its rows are final: neither they
/// nor other keys inside the ranges need a lookup.
class MergedRanges final : public CandidateSource {
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

  bool Done() const override { return !positioned_ && ranges_.empty(); }
  std::optional<rocksdb::Slice> Bound() const override;
  bool IsPositioned() const override { return positioned_; }
  void Position() override;
  void Next() override;

  /// REQUIRES: IsPositioned()
  rocksdb::Slice value() const { return view_.value(); }

  rocksdb::Status status() const { return view_.status(); }

 private:
  void CountRow();

  ScanContext* const context_;
  BoundedIterator view_;
  std::list<ScanRange> ranges_;       // still to be read; disjoint, in scan order
  std::optional<ScanRange> covered_;  // the last or current range
  bool positioned_ = false;
};

}  // namespace blocksieve::rocksdb_plugin
