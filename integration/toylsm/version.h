#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cassert>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/toylsm/base/entry.h"
#include "integration/toylsm/sst/reader.h"

namespace blocksieve::toylsm {

using SstFiles = std::vector<std::shared_ptr<SstReader>>;

/// A sorted run: files in key order that do not overlap.
struct Run {
  int level = 0;
  SstFiles files;  ///< at least one

  /// Index of the first file whose last key is >= `key`; files.size() if there is none.
  size_t FindFileFrom(std::string_view key) const;
  /// Index of the file whose key range contains `key`; files.size() if there is none.
  size_t FindFile(std::string_view key) const;
  /// Whether the run may have a key in the range. Checks at most one filter: if the range extends
  /// into the next block or file, the block index has a key in it.
  bool MayHaveKeyIn(const KeyRange& range, const ReadContext& context) const;
  uint64_t num_entries() const;
};

SstFiles ListFiles(const std::vector<Run>& runs);

/// Iterates over the entries of a run, some of which may be outside of the range; the run and
/// `blocks` must outlive the iterator. Blocks outside of the range are not read, nor is the run if
/// its range filter rules it out. `blocks`: those to read of each file; null: all. Only for scans,
/// which re-check rows.
std::unique_ptr<EntryIterator> NewRunIterator(const Run* run, const ReadContext& context,
                                              const KeyRange& range = {},
                                              const std::vector<GranuleSet>* blocks = nullptr);

/// The writes since the last flush, in key order.
class Memtable {
 public:
  class Iterator;

  /// Adds an entry, or replaces the entry of its key.
  void Add(const Entry& entry) {
    constexpr uint64_t kNodeBytes = 112;  // approximate overhead of a map node
    map_.insert_or_assign(std::string(entry.key), entry.value);
    memory_bytes_ += entry.key.size() + entry.value.value_or("").size() + kNodeBytes;
  }

  /// The entry of `key`, if any. Valid until the key is written again.
  std::optional<Entry> Find(std::string_view key) const {
    const auto found = map_.find(key);
    if (found == map_.end()) return std::nullopt;
    return Entry{found->first, found->second};
  }

  bool empty() const { return map_.empty(); }
  uint64_t num_entries() const { return map_.size(); }
  /// An estimate. Includes replaced entries, which are still in the log.
  uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  using Map = std::map<std::string, std::optional<std::string>, std::less<>>;

  Map map_;
  uint64_t memory_bytes_ = 0;
};

/// Keeps the memtable alive. Writes to it do not invalidate the iterator.
class Memtable::Iterator final : public EntryIterator {
 public:
  explicit Iterator(std::shared_ptr<const Memtable> table)
      : table_(std::move(table)), at_(table_->map_.end()) {}

  bool Valid() const override { return at_ != table_->map_.end(); }
  void Seek(std::string_view key) override { at_ = table_->map_.lower_bound(key); }
  void Next() override {
    assert(Valid());
    ++at_;
  }
  Entry entry() const override { return {at_->first, at_->second}; }
  Status status() const override { return Status::Ok(); }

 private:
  const std::shared_ptr<const Memtable> table_;
  Map::const_iterator at_;
};

/// All data at one moment. Immutable, except that writes are added to the memtable.
///
/// Sources from newest to oldest: the memtable, then the runs in their order. Each file of level 0
/// is a run; so is each deeper level.
struct Version {
  std::shared_ptr<Memtable> memtable = std::make_shared<Memtable>();
  std::vector<Run> runs;

  /// Makes the runs of these files.
  static std::vector<Run> MakeRuns(SstFiles files);

  SstFiles AllFiles() const { return ListFiles(runs); }
};

/// Selected blocks, by run and file of a version.
using SelectedBlocks = std::vector<std::vector<GranuleSet>>;

/// An iterator for each source, newest first: source 0 is the memtable, source i + 1 is run i.
/// `version` and `selected` must outlive them.
std::vector<std::unique_ptr<EntryIterator>> EntrySources(const Version& version,
                                                         const ReadContext& context,
                                                         const KeyRange& range = {},
                                                         const SelectedBlocks* selected = nullptr);

}  // namespace blocksieve::toylsm
