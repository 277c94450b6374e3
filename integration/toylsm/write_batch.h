#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "integration/toylsm/base/entry.h"

namespace blocksieve::toylsm {

/// Writes that happen all or not at all, in their order. Kept in the form in which the log has
/// them; FORMAT.md describes it.
class WriteBatch {
 public:
  void Put(std::string_view key, std::string_view value);
  void Delete(std::string_view key);
  /// All writes of `other`, behind those that there are; or none of them, if that were too many.
  void Append(const WriteBatch& other);

  uint64_t num_entries() const { return num_entries_; }
  const std::string& bytes() const { return bytes_; }

  /// InvalidArgument if a key, a value or all of it was too long.
  const Status& status() const { return status_; }

 private:
  // False, with a status, for good: from the first thing on that was too long.
  bool Check(std::string_view key, std::string_view value);
  bool HasRoomFor(uint64_t num_bytes);

  std::string bytes_;
  uint64_t num_entries_ = 0;
  Status status_;
};

/// Reads such bytes entry by entry; the first has `first_sequence`.
class BatchReader {
 public:
  BatchReader(ByteView bytes, Sequence first_sequence)
      : rest_(bytes), next_sequence_(first_sequence) {}

  /// False at the end, and where the bytes are damaged: then status() says so.
  bool Next();

  /// REQUIRES: Next() was true.
  const Entry& entry() const { return entry_; }
  const Status& status() const { return status_; }

 private:
  ByteView rest_;
  Sequence next_sequence_;
  Entry entry_;
  Status status_;
};

}  // namespace blocksieve::toylsm
