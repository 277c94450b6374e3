#pragma once

#include <list>
#include <optional>

#include "integration/rocksdb/scan/bounded_iterator.h"
#include "integration/rocksdb/scan/candidate_source.h"
#include "integration/rocksdb/scan/scan_context.h"

namespace blocksieve::rocksdb_plugin {

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
