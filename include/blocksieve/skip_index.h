#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/column.h"
#include "blocksieve/granule_set.h"
#include "blocksieve/predicate.h"
#include "blocksieve/status.h"

/// \file
/// The skip index of one file: from its rows to the granules that may match a predicate. Rows, in
/// key order, are divided into granules. Each granule has its key range and, for each indexed
/// column, a description of the values in its rows.

namespace blocksieve {

namespace internal {
class ColumnIndex;
/// The indexes of a predicate's columns in one file; null where it has none.
using ColumnIndexes = std::vector<const ColumnIndex*>;
}  // namespace internal

inline constexpr uint64_t kDefaultGranuleRows = 64;         ///< One or two blocks of small rows.
inline constexpr uint64_t kDefaultGranuleBytes = 16 << 10;  ///< Default index granularity.
inline constexpr uint64_t kDefaultMaxIndexBytes = 8 << 20;  ///< Default budget for an index.

/// State of a part of a column's index: its filters or its bounds. The numbers are part of the byte
/// format.
enum class PartState : uint8_t {
  kPresent = 0,        ///< In the index.
  kNotWanted = 1,      ///< Excluded by the column's definition.
  kBoundsSuffice = 2,  ///< No filters, as bounds find nearly every value.
  kUseless = 3,        ///< Would prune nothing: nearly every granule has nearly every value.
  kOverBudget = 4,     ///< The index would exceed max_index_bytes.
  kOverMemory = 5,     ///< Building the index would take more memory than max_index_bytes allows.
  kCollisions = 6,     ///< No filters, as too many values have similar hashes.
};

/// "present", "not wanted", "bounds suffice", "would prune nothing", "over budget", "over memory"
/// or "hash collisions".
BLOCKSIEVE_EXPORT std::string_view PartStateName(PartState part) noexcept;

/// Facts about one column of an index.
struct IndexColumnInfo {
  std::string definition;                     ///< Column::ToText.
  std::string key;                            ///< Column::key.
  ValueType type = ValueType::kBytes;         ///< Type of the values.
  bool is_of_key = false;                     ///< Column::is_of_key.
  PartState filters = PartState::kNotWanted;  ///< For equality, IN and HAS.
  PartState bounds = PartState::kNotWanted;   ///< For ranges and orders.
  /// Filters of a nearly unique column: each value maps to one contiguous group of granules, whose
  /// other granules are false positives, as many as the target FPR allows. Unknown without the
  /// filters themselves.
  bool is_grouped = false;
  /// Distinct values of each granule, summed over all granules; without filters as far as counted.
  uint64_t num_distinct = 0;
  uint64_t filter_bytes = 0;  ///< Filters in the index.
  uint64_t bounds_bytes = 0;  ///< Intervals of values.
  uint64_t mark_bytes = 0;    ///< Marks of granules whose rows have, or lack, the column.
  uint64_t probe_bytes = 0;   ///< Average that a lookup of one value reads; 0 without the filters.
};

/// "postings", "grouped postings", or the PartStateName of filters that are not present.
BLOCKSIEVE_EXPORT std::string_view FiltersName(const IndexColumnInfo& column) noexcept;

/// What filters of this FiltersName are; empty for names that say it themselves.
BLOCKSIEVE_EXPORT std::string_view FiltersReason(std::string_view filters) noexcept;

/// Options of the skip index of a file.
struct SkipIndexOptions {
  /// Indexed columns: 1 to 256, with distinct names, such as {"package=field:1", "size=uint:2"}.
  ColumnList columns = {};

  /// Make each data block one granule, so that no match makes a scan read two blocks; for engines
  /// whose builder is told where blocks end. The two limits below then apply only while block ends
  /// are unknown, as before the end of the first block.
  bool block_granules = true;

  /// Index granularity: a granule closes when it has this many rows, or bytes of rows. 0: no limit.
  uint64_t granule_rows = kDefaultGranuleRows;
  uint64_t granule_bytes = kDefaultGranuleBytes;  ///< See granule_rows.

  /// FPR of the filters: of the granules that lack a value, the share that may match. 1e-7 to 0.5.
  /// Lower than for keys: each false positive costs a read, and most granules lack most values.
  /// Columns get fewer false positives, if that takes no more space than Bloom filters of this FPR.
  double target_fpr = 0.001;

  /// Budget for the index of a file, in bytes. Parts that exceed it are left out, the largest
  /// filters first. It also limits the memory of building: to 32 times this, 1 MiB, and thrice the
  /// longest value and key. What needs more is dropped at once: filters, those of most values
  /// first, then bounds, and where the keys of granules alone need more, the index. 0: no limit.
  uint64_t max_index_bytes = kDefaultMaxIndexBytes;
};

/// A finished index, and what it contains.
struct FinishedSkipIndex {
  std::string bytes;                     ///< In the format of lib/FORMAT.md.
  std::vector<IndexColumnInfo> columns;  ///< In the order of the options.
  uint64_t num_granules = 0;             ///< 0 for a file without rows.
  uint64_t num_rows = 0;                 ///< Total over all granules.
  uint64_t key_bytes = 0;                ///< Size of keys, row counts and marks of granules.
};

/// Builds the skip index of one file while the file is written. Memory: 8 bytes per distinct value,
/// granule and column, and 28 more in Finish, for one column at a time; see
/// SkipIndexOptions::max_index_bytes. Not thread-safe, but may move between threads. A moved-from
/// builder ignores rows, and its Finish is an error.
///
/// Call order: ( NoteKey* ( (AddRow|AddEmptyRow|AddAlwaysMatchingRow) (AddValue|NoteSequence)* )?
/// CloseGranule? )* Finish
///
/// Errors before Finish (out of memory) are returned by Finish, so that an engine's write path
/// handles them in one place: the file then has no index and is read as a whole.
class BLOCKSIEVE_EXPORT SkipIndexBuilder {
 public:
  /// Without `has_keys`, the index does not store the keys of granules: its carrier has them.
  /// Errors: InvalidArgument (the option, its value, the allowed range), ResourceExhausted
  /// (memory).
  static Result<SkipIndexBuilder> Create(const SkipIndexOptions& options, bool has_keys = true);

  SkipIndexBuilder(SkipIndexBuilder&&) noexcept;             ///< See above.
  SkipIndexBuilder& operator=(SkipIndexBuilder&&) noexcept;  ///< See above.
  ~SkipIndexBuilder();

  /// Records the key of the next entry, before its row if it gets one, for SkipIndex::IsPlain.
  void NoteKey(std::string_view key) noexcept;

  /// @{
  /// Adds the next row. Keys are in the engine's order, whatever it is. `row_bytes` count towards
  /// granule_bytes; by default those of key and row.
  void AddRow(std::string_view key, std::string_view row, uint64_t row_bytes) noexcept;
  void AddRow(std::string_view key, std::string_view row) noexcept {
    AddRow(key, row, key.size() + row.size());
  }
  /// @}

  /// @{
  /// Adds a row without a value, of which columns of the key have values. Engines that number
  /// granules need a row in each; with columns of the key, each delete is one, too, so that a block
  /// of deletes matches by its keys.
  void AddEmptyRow(std::string_view key) noexcept { AddEmptyRow(key, key.size()); }
  void AddEmptyRow(std::string_view key, uint64_t row_bytes) noexcept;
  /// @}

  /// Adds a row whose value is not known when it is written (a merge operand, a reference): its
  /// granule may match every predicate on values.
  void AddAlwaysMatchingRow(std::string_view key, uint64_t row_bytes) noexcept;

  /// Adds a value to the current row, for engines whose rows have columns of their own. Columns are
  /// counted from 0. A column that does not exist, or has another type, makes Finish fail with
  /// InvalidArgument, as does a value before the first row.
  void AddValue(size_t column, const Value& value) noexcept;

  /// Records the current row's sequence number; the index stores each granule's smallest.
  void NoteSequence(uint64_t sequence) noexcept;

  /// Replaces granule_rows and granule_bytes from now on. 0: no limit.
  void LimitGranules(uint64_t rows, uint64_t bytes) noexcept;

  /// Ends the granule after the current row. Does nothing if the granule is empty. Best called
  /// where a data block ends: a granule that spans two blocks costs two reads.
  void CloseGranule() noexcept;

  /// Returns the index, even without rows.
  /// Errors: ResourceExhausted (memory, or the granules' keys alone exceed max_index_bytes);
  /// InvalidArgument (see AddValue, or the builder is finished already).
  Result<FinishedSkipIndex> Finish() noexcept;

  /// After Finish: the minimum of max_index_bytes that drops nothing, whatever the budget was. 0 if
  /// that is not known: Finish failed too early, or filters are kOverMemory.
  uint64_t needed_bytes() const noexcept;

 private:
  struct Impl;
  explicit SkipIndexBuilder(std::unique_ptr<Impl> impl) noexcept;

  std::unique_ptr<Impl> impl_;
};

/// Reads a skip index that is not in memory. Engines implement it over their storage.
class SkipIndexSource {
 public:
  virtual ~SkipIndexSource() = default;

  /// Size of the whole index.
  virtual uint64_t num_bytes() const = 0;

  /// Fills `to` with the bytes from `offset`; callers pass errors on. REQUIRES: within num_bytes()
  virtual Status Read(uint64_t offset, std::span<uint8_t> to) = 0;
};

/// The columns by which granules are pruned.
enum class PruneColumns : uint8_t {
  kAll,    ///< Of values and keys.
  kOfKey,  ///< Of keys: these are the same in all versions of a key, also in deletes.
};

/// Bounds of a granule's values in order-preserving bytes: bytes as they are, numbers in eight.
struct GranuleBounds {
  bool has_values = false;          ///< If false, the other members are undefined.
  std::string low;                  ///< At or below the minimum.
  std::optional<std::string> high;  ///< At or above the maximum; nullopt: unknown.
};

/// Reads the skip index of one file. Immutable, thread-safe. A moved-from index has no granules and
/// cannot prune, so that its file is read as a whole. Functions that are not noexcept and return no
/// Result may throw std::bad_alloc.
class BLOCKSIEVE_EXPORT SkipIndex {
 public:
  /// Opens an index and checks every byte, about 0.1 ms per MB: a flipped bit would hide rows.
  /// `bytes` must outlive the index: filters are read in place, and only compressed parts (keys,
  /// bounds) are copied. No function reads outside of `bytes`, whatever they contain.
  ///
  /// Errors: Corruption (truncated, foreign, damaged), NotSupported (newer version),
  /// ResourceExhausted (memory). A file whose index cannot be opened must be read as a whole.
  static Result<SkipIndex> Open(ByteView bytes);

  /// Reads and opens an index, which then owns its bytes: its granules and the given `columns` (by
  /// key), as a predicate needs few; nullopt: all. Errors: those of the source and of Open.
  static Result<SkipIndex> Read(SkipIndexSource* source,
                                std::optional<std::span<const Column>> columns = std::nullopt);

  SkipIndex(SkipIndex&&) noexcept;             ///< See above.
  SkipIndex& operator=(SkipIndex&&) noexcept;  ///< See above.
  ~SkipIndex();

  size_t num_granules() const noexcept;  ///< 0 for a file without rows.
  uint64_t num_rows() const noexcept;    ///< Total over all granules.

  /// @{
  /// Facts about a granule; of one that the file does not have: true, 0 and 0.
  bool AlwaysMatches(size_t granule) const noexcept;    ///< It may match all on values.
  uint64_t NumRows(size_t granule) const noexcept;      ///< Number of its rows.
  uint64_t MinSequence(size_t granule) const noexcept;  ///< 0 if none was recorded.
  /// Whether all of its rows came by AddRow and NoteKey, and no other entry of the file has a key
  /// of theirs: NumRows is the number of its keys. False of a granule that the file does not have.
  bool IsPlain(size_t granule) const noexcept;
  /// @}

  bool has_keys() const noexcept;  ///< False if the carrier of the index has the keys.

  /// First and last key of a granule; either may be null. Decodes up to 16 granules before it. No
  /// effect if the file does not have the granule, or the index no keys.
  void GetKeyRange(size_t granule, std::string* first, std::string* last) const;

  /// Whether a comparison of the predicate can prune granules with this index. If not, all granules
  /// are candidates. `by`: the columns to use.
  bool CanPrune(const Predicate& predicate, PruneColumns by = PruneColumns::kAll) const;

  /// The granules that may match, including all that do. By the columns of the key alone: those
  /// with a key of which some value may match. Granules without one may be left out wherever they
  /// lie, since other versions of their keys cannot match either.
  GranuleSet Candidates(const Predicate& predicate, PruneColumns by = PruneColumns::kAll) const;

  /// The bounds of all granules; empty if the column has none. Undefined for granules that always
  /// match.
  std::vector<GranuleBounds> Bounds(const Column& column) const;

  /// Facts about the columns in the index, in the order of the builder's options.
  std::vector<IndexColumnInfo> columns() const;

  uint64_t index_bytes() const noexcept;   ///< Size of the index, as far as it was read.
  uint64_t key_bytes() const noexcept;     ///< Size of keys, row counts and marks of granules.
  uint64_t memory_bytes() const noexcept;  ///< Memory in addition to bytes that it does not own.

  /// The index of a column with the same key, and if there are several, with the same name; null if
  /// there is none.
  const internal::ColumnIndex* Find(const Column& column) const noexcept;

  /// Find for all columns of a predicate; null for those that are not to be used.
  internal::ColumnIndexes FindAll(const Predicate& predicate,
                                  PruneColumns by = PruneColumns::kAll) const;

 private:
  struct Impl;
  explicit SkipIndex(std::shared_ptr<const Impl> impl) noexcept;

  std::shared_ptr<const Impl> impl_;  // never null
};

}  // namespace blocksieve
