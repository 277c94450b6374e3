#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "blocksieve/granule_set.h"
#include "integration/toylsm/base/entry.h"
#include "integration/toylsm/memtable.h"
#include "integration/toylsm/sst/reader.h"

namespace blocksieve::toylsm {

using SstFiles = std::vector<std::shared_ptr<SstReader>>;

/// Files in the order of their keys, none of which is in two of them.
struct Run {
  int level = 0;
  SstFiles files;  ///< at least one

  /// The index of the one file that can have `key`; files.size() if none can.
  size_t FindFile(std::string_view key) const;
  /// The index of the first file that can have `key` or a greater one; files.size() if none can.
  size_t FindFileFrom(std::string_view key) const;
  /// Whether a key in the range may be in a file.
  bool MayHaveKeyIn(const KeyRange& range, const ReadContext& context) const;
  uint64_t num_bytes() const;
};

/// Which entries of a run are wanted. Blocks that have none are passed over unread; of the others
/// all entries are shown.
struct Wanted {
  KeyRange range;

  /// Of each file a set of blocks; null: all. For scans only, which know what they miss.
  const std::vector<GranuleSet>* blocks = nullptr;
};

/// The entries of a run, which must outlive the iterator, as must what `wanted` refers to.
std::unique_ptr<EntryIterator> NewRunIterator(const Run* run, const ReadContext& context,
                                              Wanted wanted = {});

/// All data at one moment. Does not change, but for the memtable that is written to, and lives as
/// long as somebody reads it; files of old versions are removed with the last one that has them.
///
/// Of one key, whatever a source has is newer than all that the sources after it have: first the
/// memtable, then the runs in their order. Each file of level 0 is a run; so is each deeper level.
struct Version {
  std::shared_ptr<Memtable> memtable;
  std::vector<Run> runs;

  /// Makes the runs of any files. Errors: Corruption, if files of a level overlap.
  static Result<std::vector<Run>> MakeRuns(SstFiles files);

  SstFiles AllFiles() const;

  /// The run of a level; null if it is empty. REQUIRES: level >= 1
  const Run* FindLevel(int level) const;
};

}  // namespace blocksieve::toylsm
