#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/status.h"
#include "lib/base/coding.h"

namespace blocksieve::toylsm {

/// A key with its value, or the mark that the key was deleted. Refers to bytes of its source.
///
/// Entries have no sequence numbers: a source (memtable, sorted run) holds one entry per key, and
/// the newer source wins. An engine with snapshots keeps several versions per key here.
struct Entry {
  std::string_view key;
  std::optional<std::string_view> value;  ///< nullopt: deleted
};

/// The form of an entry in logs and data blocks; FORMAT.md describes it.
inline void AppendEntry(std::string* out, const Entry& entry) {
  AppendVarint(out, entry.key.size());
  AppendVarint(out, entry.value ? entry.value->size() + 1 : 0);
  out->append(entry.key);
  out->append(entry.value.value_or(""));
}

/// The inverse. The entry is valid if `decoder->ok()`, as long as the decoder's bytes are.
inline Entry ReadEntry(Decoder* decoder) {
  const uint64_t key_bytes = decoder->Varint();
  const uint64_t value_bytes_plus_one = decoder->Varint();
  Entry entry{.key = AsText(decoder->Bytes(key_bytes)), .value = std::nullopt};
  if (value_bytes_plus_one > 0) entry.value = AsText(decoder->Bytes(value_bytes_plus_one - 1));
  return entry;
}

/// The keys from `begin` up to but not including `end`; without `end`, all keys from `begin`.
struct KeyRange {
  std::string begin;
  std::optional<std::string> end;

  /// Whether `key` and all greater keys are beyond the range.
  bool EndsAt(std::string_view key) const { return end && *end <= key; }
};

/// Goes through the entries of a source in key order (bytewise), deletes included.
class EntryIterator {
 public:
  virtual ~EntryIterator() = default;

  /// False before the first Seek, after the last entry, and after an error.
  virtual bool Valid() const = 0;
  /// Moves to the first entry whose key is `key` or greater.
  virtual void Seek(std::string_view key) = 0;
  /// REQUIRES: Valid()
  virtual void Next() = 0;
  /// Valid until the iterator moves. REQUIRES: Valid()
  virtual Entry entry() const = 0;
  /// Not ok if the iterator ended because something could not be read.
  virtual Status status() const = 0;
};

}  // namespace blocksieve::toylsm
