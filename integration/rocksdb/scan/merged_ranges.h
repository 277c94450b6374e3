#pragma once

#include <rocksdb/iterator.h>

#include <list>
#include <memory>
#include <optional>
#include <string>

#include "integration/rocksdb/scan/scan_context.h"

namespace blocksieve::rocksdb_plugin {

/// An iterator over one key range after the other, in the direction of the scan. RocksDB is told
/// the end of each range: without, an iterator that finds nothing visible at its snapshot runs on,
/// to the end of the database if it must.
class BoundedIterator {
 public:
  /// `options` without bounds. `context` must outlive this.
  BoundedIterator(const ScanContext* context, const rocksdb::ReadOptions& options);

  /// Holds the files and memtables of now, for all ranges that have an end. Otherwise the first
  /// Seek does.
  void Pin();

  /// Whether Seek would use an iterator that exists already.
  bool HasIteratorFor(const ScanRange& range) const {
    return (BoundOf(range) ? bounded_ : unbounded_) != nullptr;
  }

  void Seek(const ScanRange& range);

  /// At a row of the range; false at its end and after an error.
  bool Valid() const { return valid_; }
  /// REQUIRES: Valid()
  void Next();
  rocksdb::Slice key() const { return current_->key(); }
  rocksdb::Slice value() const { return current_->value(); }

  rocksdb::Status status() const;

 private:
  std::optional<std::string> BoundOf(const ScanRange& range) const;
  std::unique_ptr<rocksdb::Iterator> NewIterator(bool with_bound);
  void CheckEnd();

  const ScanContext* const context_;
  rocksdb::ReadOptions options_;
  std::unique_ptr<rocksdb::Iterator> bounded_;
  std::unique_ptr<rocksdb::Iterator> unbounded_;
  rocksdb::Iterator* current_ = nullptr;
  std::optional<std::string> end_;
  std::string bound_bytes_;
  rocksdb::Slice bound_;  // what the iterators' options point to
  bool valid_ = false;
  bool at_end_ = false;  // at the last key that the range can have
};

/// Keys that may be those of matching rows, in scan order, found as late as possible: a source that
/// a limited scan never comes to reads nothing.
class CandidateSource {
 public:
  virtual ~CandidateSource() = default;

  /// No candidate is left.
  virtual bool Done() const = 0;

  /// No candidate that is left comes before this key; none: nothing is known. Valid until the next
  /// call of another function. REQUIRES: !Done()
  virtual std::optional<rocksdb::Slice> Bound() const = 0;

  /// Whether Bound() is a candidate; otherwise Position() is to be called.
  virtual bool IsPositioned() const = 0;

  /// Looks for the next candidate; afterwards the source is positioned, done, or has a later bound.
  /// REQUIRES: !Done() && !IsPositioned()
  virtual void Position() = 0;

  /// Leaves the candidate. REQUIRES: IsPositioned()
  virtual void Next() = 0;
};

/// Reads key ranges on the normal, merged view of the database. Its rows are final: nothing else
/// needs to be known of them, or of any key inside the ranges.
class MergedRanges final : public CandidateSource {
 public:
  /// `context` must outlive this.
  explicit MergedRanges(ScanContext* context);

  /// Holds the view of now, so that ranges can be read on it later, whatever files are gone by
  /// then.
  void Pin() { view_.Pin(); }

  /// A further range to read. It must not begin before what the scan has come to.
  void Add(ScanRange range);

  /// Whether the key lies in a range that was, or is being, read. REQUIRES: all candidates of here
  /// that come before it have been taken.
  bool Covers(const rocksdb::Slice& key) const;

  /// Cuts off what is covered at the start of a range; false if nothing is left of it.
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
  void NoteRow();

  ScanContext* const context_;
  BoundedIterator view_;
  std::list<ScanRange> ranges_;       // to read, disjoint, in scan order
  std::optional<ScanRange> covered_;  // the last that was read, or is
  bool positioned_ = false;
};

}  // namespace blocksieve::rocksdb_plugin
