#pragma once

#include <rocksdb/iterator.h>
#include <rocksdb/slice.h>
#include <rocksdb/status.h>

#include <cassert>
#include <memory>
#include <optional>

#include "integration/rocksdb/scan/scan_context.h"

namespace blocksieve::rocksdb_plugin {

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

/// Matching rows in scan order. Stands at the first after Start().
class RowStream {
 public:
  virtual ~RowStream() = default;

  virtual void Start() = 0;
  virtual bool Valid() const = 0;
  /// REQUIRES: Valid()
  virtual void Next() = 0;
  virtual rocksdb::Slice key() const = 0;
  virtual rocksdb::Slice value() const = 0;
  virtual rocksdb::Status status() const = 0;
};

/// Reads everything.
class FullScan final : public RowStream {
 public:
  /// Holds the view of now. `context` must outlive this.
  explicit FullScan(ScanContext* context)
      : context_(context),
        iterator_(context->db->NewIterator(context->read_options, context->column_family)) {}

  void Start() override {
    context_->reverse ? iterator_->SeekToLast() : iterator_->SeekToFirst();
    FindMatch();
  }
  bool Valid() const override { return iterator_->Valid(); }
  void Next() override {
    assert(Valid());
    Advance();
    FindMatch();
  }
  rocksdb::Slice key() const override { return iterator_->key(); }
  rocksdb::Slice value() const override { return iterator_->value(); }
  rocksdb::Status status() const override { return iterator_->status(); }

 private:
  void Advance() { context_->reverse ? iterator_->Prev() : iterator_->Next(); }
  void FindMatch() {
    for (; iterator_->Valid(); Advance()) {
      ++context_->counts.rows_read;
      if (context_->Matches(iterator_->value())) return;
    }
  }

  ScanContext* const context_;
  const std::unique_ptr<rocksdb::Iterator> iterator_;
};

}  // namespace blocksieve::rocksdb_plugin
