#pragma once

#include <rocksdb/iterator.h>

#include <memory>
#include <optional>
#include <string>

#include "integration/rocksdb/scan/scan_context.h"

namespace blocksieve::rocksdb_plugin {

/// A key that comes after `key` and before all but few others; none if there is no such key, or it
/// is not known how the comparator orders.
std::optional<std::string> KeyJustAfter(const rocksdb::Comparator& comparator,
                                        const std::string& key);

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

}  // namespace blocksieve::rocksdb_plugin
