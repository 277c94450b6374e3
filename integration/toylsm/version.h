#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "integration/toylsm/base/entry.h"
#include "integration/toylsm/memtable.h"
#include "integration/toylsm/sst/reader.h"

namespace blocksieve::toylsm {

using SstFiles = std::vector<std::shared_ptr<SstReader>>;

/// Files in key order, none of which overlap.
struct Run {
  int level = 0;
  SstFiles files;  ///< at least one

  /// The index of the first file that ends at `key` or after it; files.size() if there is none.
  size_t FindFileFrom(std::string_view key) const;
  /// The index of the one file whose keys surround `key`; files.size() if there is none.
  size_t FindFile(std::string_view key) const;
  /// Whether the run may have a key in the range. However long the range is, this checks one filter
  /// at most: if it goes on into the next file, the block index knows a key in it.
  bool MayHaveKeyIn(const KeyRange& range, const ReadContext& context) const;
  uint64_t num_bytes() const;
  uint64_t num_entries() const;
};

SstFiles FilesOf(const std::vector<Run>& runs);

/// Which entries of a run are read.
struct RunSelection {
  /// Blocks outside of the range are not read, nor is the run if its range filter rules it out.
  KeyRange range = {};

  /// For each file a set of blocks; null: all. Only for scans, which know what they miss.
  const std::vector<std::vector<bool>>* blocks = nullptr;
};

/// The entries of a run, which must outlive the iterator, as must what `selection` refers to.
/// Some may lie outside of the range.
std::unique_ptr<EntryIterator> NewRunIterator(const Run* run, const ReadContext& context,
                                              RunSelection selection);

/// All data at one moment. Changes only in that writes are added to the memtable.
///
/// Sources from newest to oldest: the memtable, then the runs in their order. Each file of level 0
/// is a run; so is each deeper level.
struct Version {
  std::shared_ptr<Memtable> memtable = std::make_shared<Memtable>();
  std::vector<Run> runs;

  /// Makes the runs of these files.
  static std::vector<Run> MakeRuns(SstFiles files);

  SstFiles AllFiles() const { return FilesOf(runs); }
};

/// For each run of a version, and each file of it, a set of blocks.
using SelectedBlocks = std::vector<std::vector<std::vector<bool>>>;

/// An iterator for each source, newest first: source 0 is the memtable, source i + 1 is run i.
/// `version` and `selected` must outlive them.
std::vector<std::unique_ptr<EntryIterator>> EntrySources(const Version& version,
                                                         const ReadContext& context,
                                                         const KeyRange& range = {},
                                                         const SelectedBlocks* selected = nullptr);

}  // namespace blocksieve::toylsm
