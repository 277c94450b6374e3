#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace blocksieve::testing {

/// Counts of a run, in all threads. A wrong answer is a failure of the test.
struct ModelCounts {
  std::atomic<uint64_t> operations = 0;
  std::atomic<uint64_t> seeks = 0;
};

/// Creates an iterator over the compared data.
using MakeIterator = std::function<std::unique_ptr<rocksdb::Iterator>(const rocksdb::ReadOptions&)>;

/// [lower, upper)
struct Bounds {
  std::optional<std::string> lower;
  std::optional<std::string> upper;
};

/// An iterator that uses filters, and one in total order, for which RocksDB checks no prefix
/// filter. Both make the same moves, and must be at the same row after each.
class TwinIterator {
 public:
  TwinIterator(const MakeIterator& make, rocksdb::ReadOptions read, Bounds bounds,
               ModelCounts* counts);
  TwinIterator(const TwinIterator&) = delete;
  TwinIterator& operator=(const TwinIterator&) = delete;

  void Seek(const std::string& key);
  void SeekForPrev(const std::string& key);
  /// Any other move.
  void Both(const std::string& what, const std::function<void(rocksdb::Iterator*)>& move);
  void Refresh();

  /// Changes the upper bound, if it is set. REQUIRES: a seek follows.
  void MoveBound(const std::string& upper);

  /// Whether both are at the same row.
  bool is_at_row() const { return is_at_row_; }
  void ForgetRow() { is_at_row_ = false; }

  const rocksdb::ReadOptions& read() const { return read_; }
  const Bounds& bounds() const { return bounds_; }

 private:
  std::string Describe() const;

  rocksdb::ReadOptions read_;
  Bounds bounds_;
  rocksdb::Slice lower_;
  rocksdb::Slice upper_;
  ModelCounts& counts_;
  std::unique_ptr<rocksdb::Iterator> filtered_;
  std::unique_ptr<rocksdb::Iterator> plain_;
  bool is_at_row_ = false;
};

/// Scans from `begin` to `end` with a new iterator, as most applications do.
void CompareScan(const MakeIterator& make, const rocksdb::ReadOptions& read,
                 const std::string& begin, const std::string& end, ModelCounts* counts);

/// For reports.
std::string Hex(const rocksdb::Slice& text);

}  // namespace blocksieve::testing
