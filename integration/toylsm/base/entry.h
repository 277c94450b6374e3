#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/status.h"

namespace blocksieve::toylsm {

/// Every write has a number of its own, from 1 on. Later is greater.
using Sequence = uint64_t;
inline constexpr Sequence kMaxSequence = (uint64_t{1} << 56) - 1;  // 8 bits are left for the type

/// Of a write. They keep a record of the log far below the 4 GiB that its length can say.
inline constexpr size_t kMaxKeyBytes = size_t{1} << 16;
inline constexpr size_t kMaxValueBytes = size_t{1} << 28;
inline constexpr size_t kMaxBatchBytes = size_t{1} << 30;

/// Numbers are part of the format.
enum class EntryType : uint8_t { kDelete = 0, kPut = 1 };

/// A place in the order of entries: keys ascend as unsigned bytes; of one key, the newest first.
struct Position {
  std::string_view key;
  Sequence sequence = kMaxSequence;

  friend bool operator<(const Position& a, const Position& b) {
    const int order = a.key.compare(b.key);
    return order != 0 ? order < 0 : a.sequence > b.sequence;
  }
};

/// The keys from `begin` on that are less than `end`; without an end, all from `begin` on.
struct KeyRange {
  std::string begin;
  std::optional<std::string> end;

  /// Neither `key` nor any greater one is in the range.
  bool EndsAt(std::string_view key) const { return end && *end <= key; }
};

/// One version of a key. Refers to bytes of its source.
struct Entry {
  std::string_view key;
  Sequence sequence = 0;
  EntryType type = EntryType::kDelete;
  std::string_view value;  // empty for a delete

  Position position() const { return {key, sequence}; }
};

/// Goes through the entries of a source in their order, all versions and deletes included. Not
/// thread-safe.
class EntryIterator {
 public:
  virtual ~EntryIterator() = default;

  /// False before any seek, beyond either end, and after an error.
  virtual bool Valid() const = 0;

  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  /// To the first entry at `target` or behind it.
  virtual void Seek(const Position& target) = 0;

  /// REQUIRES: Valid()
  virtual void Next() = 0;
  virtual void Prev() = 0;
  /// Valid until the iterator moves.
  virtual const Entry& entry() const = 0;

  /// Not ok if an end was reached only because something could not be read.
  virtual Status status() const = 0;
};

}  // namespace blocksieve::toylsm
