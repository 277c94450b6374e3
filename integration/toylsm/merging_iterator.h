#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "integration/toylsm/base/entry.h"

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

}  // namespace blocksieve::toylsm
