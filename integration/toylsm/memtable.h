#pragma once

#include <cassert>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "integration/toylsm/base/entry.h"

namespace blocksieve::toylsm {

/// The writes since the last flush, in key order.
class Memtable {
 public:
  class Iterator;

  /// Adds an entry, or replaces the entry of its key.
  void Add(const Entry& entry) {
    constexpr uint64_t kNodeBytes = 112;  // approximate overhead of a map node
    map_.insert_or_assign(std::string(entry.key), entry.value);
    memory_bytes_ += entry.key.size() + entry.value.value_or("").size() + kNodeBytes;
  }

  /// The entry of `key`, if any. Valid until the key is written again.
  std::optional<Entry> Find(std::string_view key) const {
    const auto found = map_.find(key);
    if (found == map_.end()) return std::nullopt;
    return Entry{found->first, found->second};
  }

  bool empty() const { return map_.empty(); }
  uint64_t num_entries() const { return map_.size(); }
  /// An estimate. Includes replaced entries, which are still in the log.
  uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  using Map = std::map<std::string, std::optional<std::string>, std::less<>>;

  Map map_;
  uint64_t memory_bytes_ = 0;
};

/// Keeps the memtable alive. Writes to it do not invalidate the iterator.
class Memtable::Iterator final : public EntryIterator {
 public:
  explicit Iterator(std::shared_ptr<const Memtable> table)
      : table_(std::move(table)), at_(table_->map_.end()) {}

  bool Valid() const override { return at_ != table_->map_.end(); }
  void Seek(std::string_view key) override { at_ = table_->map_.lower_bound(key); }
  void Next() override {
    assert(Valid());
    ++at_;
  }
  Entry entry() const override { return {at_->first, at_->second}; }
  Status status() const override { return Status::Ok(); }

 private:
  const std::shared_ptr<const Memtable> table_;
  Map::const_iterator at_;
};

}  // namespace blocksieve::toylsm
