#pragma once

#include <rocksdb/iterator.h>

#include <memory>
#include <string>

#include "integration/rocksdb/scan/candidate_source.h"
#include "integration/rocksdb/scan/merged_ranges.h"
#include "integration/rocksdb/scan/scan_context.h"

namespace blocksieve::rocksdb_plugin {

/// Candidates among the keys that memtables held when the scan began. Without a merge operator,
/// memtables hold the newest version of their keys, and its value decides. With one, every key is a
/// candidate: what the operator makes of operands without the value below them says nothing.
class MemtableSource final : public CandidateSource {
 public:
  /// Takes hold of the memtables. The context and `ranges` must outlive this.
  MemtableSource(ScanContext* context, MergedRanges* ranges);

  /// That of making the iterator; a secondary instance has none at a snapshot.
  rocksdb::Status status() const { return iterator_->status(); }

  bool Done() const override { return done_; }
  std::optional<rocksdb::Slice> Bound() const override;
  bool IsPositioned() const override { return positioned_; }
  void Position() override;
  void Next() override;

 private:
  void FindCandidate();

  ScanContext* const context_;
  MergedRanges* const ranges_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
  std::optional<std::string> last_key_;  // kept only where operands may stop the iterator
  bool positioned_ = false;
  bool done_ = false;
};

}  // namespace blocksieve::rocksdb_plugin
