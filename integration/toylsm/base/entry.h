#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/status.h"
#include "lib/base/coding.h"

namespace blocksieve::toylsm {

/// A key with its value, or a tombstone. Refers to bytes of its source.
///
/// Entries have no sequence numbers: a source (memtable, sorted run) has one entry per key, and the
/// newer source wins. An engine with snapshots would keep several versions per key.
struct Entry {
  std::string_view key;
  std::optional<std::string_view> value;  ///< nullopt: deleted
};

/// Encodes an entry for logs and data blocks; README.md specifies the format.
inline void AppendEntry(std::string* out, const Entry& entry) {
  AppendVarint(out, entry.key.size());
  AppendVarint(out, entry.value ? entry.value->size() + 1 : 0);
  out->append(entry.key);
  out->append(entry.value.value_or(""));
}

/// Decodes an entry, which refers to the decoder's bytes. Valid if `decoder->ok()`.
inline Entry ReadEntry(Decoder* decoder) {
  const uint64_t key_bytes = decoder->Varint();
  const uint64_t value_bytes_plus_one = decoder->Varint();
  Entry entry{.key = AsText(decoder->Bytes(key_bytes)), .value = std::nullopt};
  if (value_bytes_plus_one > 0) entry.value = AsText(decoder->Bytes(value_bytes_plus_one - 1));
  return entry;
}

/// The keys from `begin` to `end` (exclusive); without `end`, all keys from `begin` on.
struct KeyRange {
  std::string begin;
  std::optional<std::string> end;

  /// Whether `key` and all greater keys are beyond the range.
  bool EndsAt(std::string_view key) const { return end && *end <= key; }
};

/// Iterates over the entries of a source in key order (bytewise), including deletes.
class EntryIterator {
 public:
  virtual ~EntryIterator() = default;

  /// False before the first Seek, after the last entry, and after an error.
  virtual bool Valid() const = 0;
  /// Moves to the first entry with a key >= `key`.
  virtual void Seek(std::string_view key) = 0;
  /// REQUIRES: Valid()
  virtual void Next() = 0;
  /// Valid until the iterator moves. REQUIRES: Valid()
  virtual Entry entry() const = 0;
  /// Not ok if the iterator ended because of a read error.
  virtual Status status() const = 0;
};

}  // namespace blocksieve::toylsm
