#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "integration/toylsm/merging_iterator.h"
#include "integration/toylsm/version.h"

namespace blocksieve::toylsm {

/// What a read sees: all data of one moment, up to a sequence.
struct View {
  std::shared_ptr<const Version> version;
  Sequence sequence = 0;
};

/// The keys and values of a view in key order. Not thread-safe; must not outlive the database.
class Iterator {
 public:
  Iterator(View view, const ReadContext& context);

  bool Valid() const { return is_valid_; }
  void SeekToFirst();
  void SeekToLast();
  /// To the first key that is not less than `key`.
  void Seek(std::string_view key);

  /// REQUIRE: Valid()
  void Next();
  void Prev();
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

  /// Not ok if the iterator ended because something could not be read.
  Status status() const { return entries_.status(); }

 private:
  // From the current entry on, to the next key that is visible and not deleted.
  void FindForward();
  void FindBackward();

  const View view_;
  MergingIterator entries_;
  bool is_valid_ = false;
  // Going forward, entries_ stands at the version shown; backward, before all versions of the key.
  bool is_forward_ = true;
  std::string key_;
  std::string value_;
};

/// All sources of a version, the newest first.
std::vector<std::unique_ptr<EntryIterator>> EntrySources(const Version& version,
                                                         const ReadContext& context);

}  // namespace blocksieve::toylsm
