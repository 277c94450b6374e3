#pragma once

#include "blocksieve/status.h"
#include "integration/toylsm/entry.h"

namespace blocksieve::toylsm {

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

  /// REQUIRE: Valid()
  virtual void Next() = 0;
  virtual void Prev() = 0;
  /// Valid until the iterator moves.
  virtual const Entry& entry() const = 0;

  /// Not ok if an end was reached only because something could not be read.
  virtual Status status() const = 0;
};

}  // namespace blocksieve::toylsm
