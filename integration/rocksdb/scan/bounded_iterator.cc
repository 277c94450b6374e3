#include "integration/rocksdb/scan/bounded_iterator.h"

#include <cassert>

namespace blocksieve::rocksdb_plugin {

std::optional<std::string> KeyJustAfter(const rocksdb::Comparator& comparator,
                                        const std::string& key) {
  if (&comparator == rocksdb::BytewiseComparator()) {
    std::string after = key;
    after.push_back('\0');
    return after;
  }
  if (&comparator == rocksdb::ReverseBytewiseComparator() && !key.empty()) {
    std::string after = key.substr(0, key.size() - 1);
    if (key.back() == '\0') return after;
    // No string is next below this one; few lie between it and the one that is taken.
    after.push_back(static_cast<char>(static_cast<unsigned char>(key.back()) - 1));
    return after.append(16, '\xff');
  }
  return std::nullopt;
}

BoundedIterator::BoundedIterator(const ScanContext* context, const rocksdb::ReadOptions& options)
    : context_(context), options_(options) {}

std::unique_ptr<rocksdb::Iterator> BoundedIterator::NewIterator(bool with_bound) {
  // The bound's address is given once, and what it points to changes before each Seek, which
  // RocksDB provides for.
  rocksdb::ReadOptions options = options_;
  if (with_bound) {
    (context_->reverse ? options.iterate_lower_bound : options.iterate_upper_bound) = &bound_;
  }
  return std::unique_ptr<rocksdb::Iterator>(
      context_->db->NewIterator(options, context_->column_family));
}

void BoundedIterator::Pin() {
  // With a comparator that nothing is known of, ranges have no bound in the forward direction.
  if (context_->reverse || KeyJustAfter(*context_->comparator, "x")) {
    bounded_ = NewIterator(true);
  } else {
    unbounded_ = NewIterator(false);
  }
}

std::optional<std::string> BoundedIterator::BoundOf(const ScanRange& range) const {
  if (context_->reverse) return range.low;  // RocksDB's lower bound is part of the range
  return range.high ? KeyJustAfter(*context_->comparator, *range.high) : std::nullopt;
}

void BoundedIterator::Seek(const ScanRange& range) {
  end_ = range.end(context_->reverse);
  std::optional<std::string> bound = BoundOf(range);
  std::unique_ptr<rocksdb::Iterator>& iterator = bound ? bounded_ : unbounded_;
  if (bound) {
    bound_bytes_ = *std::move(bound);
    bound_ = bound_bytes_;
  }
  if (iterator == nullptr) iterator = NewIterator(&iterator == &bounded_);
  current_ = iterator.get();
  const std::optional<std::string>& start = range.start(context_->reverse);
  if (start) {
    context_->reverse ? current_->SeekForPrev(*start) : current_->Seek(*start);
  } else {
    context_->reverse ? current_->SeekToLast() : current_->SeekToFirst();
  }
  CheckEnd();
}

void BoundedIterator::Next() {
  assert(Valid());
  // Beyond the last key there is nothing to find but the next data block.
  if (at_end_) {
    valid_ = false;
    return;
  }
  context_->reverse ? current_->Prev() : current_->Next();
  CheckEnd();
}

void BoundedIterator::CheckEnd() {
  valid_ = current_->Valid();
  at_end_ = false;
  if (!valid_ || !end_) return;
  const int order = context_->CompareInScan(current_->key(), *end_);
  valid_ = order <= 0;
  at_end_ = order == 0;
}

rocksdb::Status BoundedIterator::status() const {
  return current_ == nullptr ? rocksdb::Status::OK() : current_->status();
}

}  // namespace blocksieve::rocksdb_plugin
