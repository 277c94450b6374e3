#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/comparator.h>
#include <rocksdb/slice.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "blocksieve/granule_set.h"
#include "blocksieve/rocksdb/prune_reads.h"
#include "blocksieve/skip_index.h"

/// \file
/// The rule of PRUNING.md: which files and blocks readers may leave out, as functions of metadata
/// and of what indexes say. They open nothing and keep nothing.

namespace blocksieve::rocksdb_plugin {

/// The clauses of the rule. All hold, but in the model that shows what each is there for.
struct PruneClauses {
  bool deeper_levels = true;     ///< A file of a deeper level that overlaps may be older.
  bool level_0 = true;           ///< So may one of level 0, by its sequence numbers.
  bool single_sequence = true;   ///< So may one that was ingested, whatever its sequence number.
  bool neighbours = true;        ///< Neighbours on a level may have versions of a shared key.
  bool unique_id = true;         ///< A file whose id another has is read.
  bool writers = true;           ///< A file of an SstFileWriter may be ingested again.
  bool kind_of_values = true;    ///< An index for other values says nothing of these.
  bool has_index = true;         ///< A file without an index is read.
  bool may_match = true;         ///< A file with a granule that can match is read.
  bool keys_alone = true;        ///< Above older entries, only columns of the key count.
  bool unique_block_id = true;   ///< Blocks of an index whose id another has are read.
  bool ends_of_shared = true;    ///< The end blocks of a file with a shared key are read.
  bool continued_blocks = true;  ///< Blocks of which a key goes on in the next are read.
};

/// Where a column family may have entries of a file's keys that are older than the file's.
enum class OlderEntries : uint8_t {
  kNone,          ///< Nowhere: readers that leave out the file see older ones of none of its keys.
  kInOtherFiles,  ///< In overlapping files, of deeper levels or of level 0.
  kOfSharedKeys,  ///< In a neighbour with the file's first or last key: compactions cut there too.
};

/// Which blocks of a file may be left out by a condition.
enum class BlockRule : uint8_t {
  kAll,       ///< All that cannot match: nothing older can show.
  kKeepEnds,  ///< All but the first and the last: neighbours may have their keys.
  kByKeys,    ///< Only by columns of the key, wherever the file lies.
};

/// What the index of a file says of the condition.
struct FileIndex {
  bool knows_values = false;  ///< It was built for the database's kind of values.
  /// Whether a granule may match; nullopt: there is no index, or it cannot tell.
  std::function<std::optional<bool>(PruneColumns by)> may_match;
};

/// Opens the index of a file, by its position. Called only if it may decide, as it costs reads.
using OpenFileIndex = std::function<FileIndex(size_t file)>;

/// A file of a column family.
struct PlacedFile {
  int level = 0;
  rocksdb::Slice first_key;  ///< Of entries and range deletes; not owned, as the last.
  rocksdb::Slice last_key;
  uint64_t smallest_sequence = 0;
  uint64_t largest_sequence = 0;

  bool has_unique_id = false;        ///< Those who read it can tell it from all others.
  bool has_unique_block_id = false;  ///< The same for its block index; false without one.
  bool is_of_writer = false;         ///< An SstFileWriter wrote it.
};

/// The decision for one file.
struct FileDecision {
  /// The count that the file belongs to: files_pruned if it is left out.
  uint64_t ReadPruningCounts::*verdict = nullptr;
  /// Blocks may be left out, by this rule; nullopt: none.
  std::optional<BlockRule> blocks = std::nullopt;
};

/// For each file, where older entries may be. REQUIRES: files are in the order of levels, and from
/// level 1 on of keys
std::vector<OlderEntries> FindOlderEntries(const rocksdb::Comparator& comparator,
                                           std::span<const PlacedFile> files,
                                           const PruneClauses& clauses = {});

/// Decides for all files of a column family. `by_keys`: the condition has columns of the key.
/// `older`: what FindOlderEntries found. REQUIRES: as FindOlderEntries
std::vector<FileDecision> DecideReads(std::span<const PlacedFile> files,
                                      std::span<const OlderEntries> older, bool by_keys,
                                      const OpenFileIndex& open_index,
                                      const PruneClauses& clauses = {});

/// The blocks to read of a file with this decision; nullopt: all. `all` and `by_keys`: the blocks
/// that may match by all columns and by those of the key; nullopt: the index cannot tell.
/// `continued`: numbers of blocks whose last key goes on in the next one.
std::optional<GranuleSet> BlocksToRead(BlockRule rule, std::optional<GranuleSet> all,
                                       std::optional<GranuleSet> by_keys,
                                       std::span<const size_t> continued,
                                       const PruneClauses& clauses = {});

}  // namespace blocksieve::rocksdb_plugin
