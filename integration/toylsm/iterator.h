#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/granule_set.h"
#include "integration/toylsm/merging_iterator.h"
#include "integration/toylsm/version.h"

namespace blocksieve::toylsm {

/// What a read sees: all data of one moment, up to a sequence.
struct View {
  std::shared_ptr<const Version> version;
  Sequence sequence = 0;
};

/// Blocks, by run and file of a version.
using SelectedBlocks = std::vector<std::vector<GranuleSet>>;

/// The keys and values of a view in key order; with a range, those in it, as if there were no
/// others. Runs whose filters say that they have no key in the range are not read. Not thread-safe;
/// must not outlive the database.
class Iterator {
 public:
  /// Whether a key is shown with this value, its newest one in the entries of the source of this
  /// number (see EntrySources). An error ends the iterator.
  using RowCheck =
      std::function<Result<bool>(std::string_view key, std::string_view value, size_t source)>;

  /// Only a scan, which knows what it misses, may leave out blocks.
  Iterator(View view, const ReadContext& context, KeyRange range = {},
           const SelectedBlocks* selected = nullptr, RowCheck check = nullptr);

  bool Valid() const { return is_valid_; }
  void SeekToFirst() { Seek(range_.begin); }
  void SeekToLast();
  /// To the first key that is not less than `key`.
  void Seek(std::string_view key);

  /// REQUIRES: Valid()
  void Next();
  void Prev();
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

  /// Not ok if the iterator ended because something could not be read.
  Status status() const { return status_.ok() ? entries_.status() : status_; }

 private:
  // From the current entry on, to the next key that is visible and not deleted.
  void FindForward();
  void FindBackward();
  bool IsRow(EntryType type, size_t source);

  const View view_;
  const KeyRange range_;
  const RowCheck check_;  // null: every put is a row
  MergingIterator entries_;
  Status status_;  // of check_
  bool is_valid_ = false;
  // Going forward, entries_ stands at the version shown; backward, before all versions of the key.
  bool is_forward_ = true;
  std::string key_;
  std::string value_;
};

/// All sources of a version, the newest first: source 0 is the memtable, source i + 1 is run i.
/// Of the runs all entries that are in the range and, with `selected`, in these blocks, and some
/// others. The version and `selected` must outlive the sources.
std::vector<std::unique_ptr<EntryIterator>> EntrySources(const Version& version,
                                                         const ReadContext& context,
                                                         const KeyRange& range = {},
                                                         const SelectedBlocks* selected = nullptr);

}  // namespace blocksieve::toylsm
