#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cassert>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/toylsm/version.h"

namespace blocksieve::toylsm {

/// Merges sources, ordered from newest to oldest: for each key, the entry of the first source that
/// has it. An error in any source ends the iterator, because newer values and deletes could be
/// missing.
///
/// Compares all sources at each step, because there are few; a heap would pay off from a dozen on.
class MergingIterator final : public EntryIterator {
 public:
  explicit MergingIterator(std::vector<std::unique_ptr<EntryIterator>> sources)
      : sources_(std::move(sources)), current_(sources_.size()) {}

  bool Valid() const override { return current_ < sources_.size(); }

  void Seek(std::string_view key) override {
    for (const auto& source : sources_) source->Seek(key);
    PickSmallest();
  }

  void Next() override {
    assert(Valid());
    const std::string key(entry().key);
    for (const auto& source : sources_) {
      if (source->Valid() && source->entry().key == key) source->Next();
    }
    PickSmallest();
  }

  Entry entry() const override { return sources_[current_]->entry(); }

  Status status() const override {
    for (const auto& source : sources_) {
      Status status = source->status();
      if (!status.ok()) return status;
    }
    return Status::Ok();
  }

  /// Index of the current entry's source. REQUIRES: Valid()
  size_t current_source() const { return current_; }

 private:
  void PickSmallest() {
    current_ = sources_.size();
    if (!status().ok()) return;
    for (size_t i = 0; i < sources_.size(); ++i) {
      if (!sources_[i]->Valid()) continue;
      if (!Valid() || sources_[i]->entry().key < entry().key) current_ = i;
    }
  }

  std::vector<std::unique_ptr<EntryIterator>> sources_;
  size_t current_;
};

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
