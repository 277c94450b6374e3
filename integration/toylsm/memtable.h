#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "integration/toylsm/base/entry.h"

namespace blocksieve::toylsm {

/// The writes since the last flush, in order. One writer, any number of readers.
///
/// A tree under a lock, not a lock-free skip list: half the code. Nodes never move or change, so
/// what a reader has found stays valid without the lock.
class Memtable {
 public:
  void Add(const Entry& entry);

  /// The newest version of `key` at or before `sequence`. Valid as long as this.
  std::optional<Entry> Find(std::string_view key, Sequence sequence) const;

  /// `table` lives as long as the iterator.
  static std::unique_ptr<EntryIterator> NewIterator(std::shared_ptr<const Memtable> table);

  bool empty() const { return num_entries() == 0; }
  uint64_t num_entries() const;
  uint64_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }

 private:
  class Iterator;

  struct OwnedPosition {
    std::string key;
    Sequence sequence;
  };
  struct Order {
    using is_transparent = void;
    static Position View(const OwnedPosition& p) { return {p.key, p.sequence}; }
    static Position View(const Position& p) { return p; }
    bool operator()(const auto& a, const auto& b) const { return View(a) < View(b); }
  };
  struct TypedValue {
    EntryType type;
    std::string value;
  };
  using Map = std::map<OwnedPosition, TypedValue, Order>;

  static Entry EntryOf(const Map::value_type& node) {
    return {node.first.key, node.first.sequence, node.second.type, node.second.value};
  }

  mutable std::shared_mutex mutex_;
  Map map_;  // guarded by mutex_; its nodes only while they are reached
  std::atomic<uint64_t> memory_bytes_ = 0;
};

}  // namespace blocksieve::toylsm
