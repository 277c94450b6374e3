#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "integration/toylsm/merging_iterator.h"
#include "integration/toylsm/version.h"

namespace blocksieve::toylsm {

/// Iterates over the database, or a key range of it, in key order. A bounded seek reads no block of
/// a run whose range filter rules it out.
///
/// Sees all writes before its creation, and some later ones. Must not outlive the database.
class Iterator {
 public:
  Iterator(std::shared_ptr<const Version> version, const ReadContext& context, KeyRange range)
      : version_(std::move(version)),
        range_(std::move(range)),
        entries_(EntrySources(*version_, context, range_)) {
    Seek(range_.begin);
  }

  bool Valid() const { return entries_.Valid() && !range_.EndsAt(entries_.entry().key); }
  /// Moves to the first key >= `key`. REQUIRES: key >= begin of the range
  void Seek(std::string_view key) {
    entries_.Seek(key);
    SkipDeletes();
  }
  /// REQUIRES: Valid()
  void Next() {
    entries_.Next();
    SkipDeletes();
  }
  /// Valid until the iterator moves, or the key is written again.
  std::string_view key() const { return entries_.entry().key; }
  std::string_view value() const { return *entries_.entry().value; }

  /// Not ok if the iterator ended because of a read error.
  Status status() const { return entries_.status(); }

 private:
  void SkipDeletes() {
    while (Valid() && !entries_.entry().value) entries_.Next();
  }

  const std::shared_ptr<const Version> version_;
  const KeyRange range_;
  MergingIterator entries_;
};

}  // namespace blocksieve::toylsm
