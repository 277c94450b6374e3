#pragma once

#include <rocksdb/db.h>

#include <memory>
#include <string>

#include "tests/rocksdb/ranges/dice.h"
#include "tests/rocksdb/ranges/model_keys.h"
#include "tests/rocksdb/ranges/model_report.h"
#include "tests/rocksdb/ranges/model_rows.h"

namespace blocksieve::testing {

/// What an iterator sees: the rows, and the snapshot and the time of which they are.
struct RowView {
  std::shared_ptr<const Rows> rows;
  const rocksdb::Snapshot* snapshot = nullptr;
  std::string timestamp;  // empty without timestamps
};

struct IteratorSettings {
  rocksdb::ReadOptions read;  // without bounds, snapshot and timestamp
  RowBounds bounds;
  bool moves_bound = true;  // the upper one, between seeks
  bool goes_back = true;
};

/// An iterator that moves at random, and is compared with rows after every move.
class CheckedIterator {
 public:
  CheckedIterator(rocksdb::DB* db, IteratorSettings settings, RowView view, ModelKeys* keys,
                  Dice* dice, ModelReport* report);
  CheckedIterator(const CheckedIterator&) = delete;
  CheckedIterator& operator=(const CheckedIterator&) = delete;

  void Move();

  /// Iterator::Refresh, after which it sees these.
  void Refresh(const std::shared_ptr<const Rows>& now);

  /// A tailing iterator sees what there is, but has to seek anew where that changed.
  void Follow(const std::shared_ptr<const Rows>& now);

  bool is_tailing() const { return settings_.read.tailing; }
  const rocksdb::Snapshot* snapshot() const { return view_.snapshot; }
  bool can_refresh() const { return !is_tailing() && snapshot() == nullptr; }

 private:
  void Seek();
  void SeekForPrev();
  void MoveBound();
  std::string SeekKey();
  void Check(const std::string& move, const RowPosition& expected);
  std::string Describe() const;

  IteratorSettings settings_;
  RowView view_;
  ModelKeys& keys_;
  Dice& dice_;
  ModelReport& report_;
  rocksdb::Slice lower_;
  rocksdb::Slice upper_;
  rocksdb::Slice timestamp_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
  RowPosition row_;  // where it is, if it is known to be at one
};

/// From `begin` on, up to `end`: what a short scan gives, against rows. Counts in the report.
void CheckScan(rocksdb::Iterator* iterator, const Rows& rows, const std::string& begin,
               const std::string& end, const std::string& what, ModelReport* report);

/// For reports.
std::string Hex(const rocksdb::Slice& text);

}  // namespace blocksieve::testing
