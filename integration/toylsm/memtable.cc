#include "integration/toylsm/memtable.h"

#include <cassert>
#include <mutex>
#include <utility>

namespace blocksieve::toylsm {

void Memtable::Add(const Entry& entry) {
  constexpr uint64_t kNodeBytes = 112;  // about, for the memory of a node besides its bytes
  const std::unique_lock lock(mutex_);
  map_.emplace(OwnedPosition{std::string(entry.key), entry.sequence},
               TypedValue{entry.type, std::string(entry.value)});
  memory_bytes_.fetch_add(entry.key.size() + entry.value.size() + kNodeBytes,
                          std::memory_order_relaxed);
}

std::optional<Entry> Memtable::Find(std::string_view key, Sequence sequence) const {
  const std::shared_lock lock(mutex_);
  const auto found = map_.lower_bound(Position{key, sequence});
  if (found == map_.end() || found->first.key != key) return std::nullopt;
  return EntryOf(*found);
}

uint64_t Memtable::num_entries() const {
  const std::shared_lock lock(mutex_);
  return map_.size();
}

class Memtable::Iterator final : public EntryIterator {
 public:
  explicit Iterator(std::shared_ptr<const Memtable> table) : table_(std::move(table)) {}

  bool Valid() const override { return valid_; }
  void SeekToFirst() override {
    const std::shared_lock lock(table_->mutex_);
    MoveTo(table_->map_.begin());
  }
  void SeekToLast() override {
    const std::shared_lock lock(table_->mutex_);
    MoveBefore(table_->map_.end());
  }
  void Seek(const Position& target) override {
    const std::shared_lock lock(table_->mutex_);
    MoveTo(table_->map_.lower_bound(target));
  }
  void Next() override {
    assert(Valid());
    const std::shared_lock lock(table_->mutex_);
    MoveTo(std::next(at_));
  }
  void Prev() override {
    assert(Valid());
    const std::shared_lock lock(table_->mutex_);
    MoveBefore(at_);
  }
  const Entry& entry() const override { return entry_; }
  Status status() const override { return Status::Ok(); }

 private:
  void MoveTo(Map::const_iterator to) {
    at_ = to;
    valid_ = at_ != table_->map_.end();
    if (valid_) entry_ = EntryOf(*at_);
  }
  void MoveBefore(Map::const_iterator to) {
    MoveTo(to == table_->map_.begin() ? table_->map_.end() : std::prev(to));
  }

  const std::shared_ptr<const Memtable> table_;
  Map::const_iterator at_;
  Entry entry_;
  bool valid_ = false;
};

std::unique_ptr<EntryIterator> Memtable::NewIterator(std::shared_ptr<const Memtable> table) {
  return std::make_unique<Iterator>(std::move(table));
}

}  // namespace blocksieve::toylsm
