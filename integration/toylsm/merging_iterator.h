#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <vector>

#include "integration/toylsm/base/entry.h"

namespace blocksieve::toylsm {

/// The entries of several sources in one order; no two are equal. An error of any source ends it:
/// without that source, deletes and newer versions could be missing.
///
/// Compares all sources at each step, as there are few; a heap would pay from a dozen on.
class MergingIterator final : public EntryIterator {
 public:
  explicit MergingIterator(std::vector<std::unique_ptr<EntryIterator>> sources)
      : sources_(std::move(sources)), current_(sources_.size()) {}

  bool Valid() const override { return current_ < sources_.size(); }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Position& target) override;
  void Next() override;
  void Prev() override;
  const Entry& entry() const override { return sources_[current_]->entry(); }
  Status status() const override;

  /// Of which source the current entry is. REQUIRES: Valid()
  size_t current_source() const {
    assert(Valid());
    return current_;
  }

 private:
  // Makes the first of all sources' entries the current one, or the last.
  void Pick(bool forward);

  std::vector<std::unique_ptr<EntryIterator>> sources_;
  size_t current_;
  bool is_forward_ = true;  // all other sources stand behind the current entry; else before it
};

}  // namespace blocksieve::toylsm
