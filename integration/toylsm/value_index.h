#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blocksieve/column.h"
#include "blocksieve/granule_index.h"
#include "blocksieve/granule_index_builder.h"
#include "blocksieve/granule_set.h"
#include "blocksieve/predicate.h"
#include "integration/toylsm/entry.h"
#include "integration/toylsm/options.h"

namespace blocksieve::toylsm {

/// Makes the value index of a file. Its granules are runs of data blocks, known by their numbers;
/// so the index need not repeat any key.
class ValueIndexBuilder {
 public:
  static Result<ValueIndexBuilder> Create(const Options& options);

  /// Deletes have no value, and add nothing: a scan finds out by itself what they hide.
  void Add(const Entry& entry);

  void FinishBlock();

  /// Errors: ResourceExhausted; the file is then to have no value index.
  Result<std::string> Finish();

 private:
  ValueIndexBuilder(const Options& options, GranuleIndexBuilder builder)
      : columns_(options.value_columns),
        granule_blocks_(options.value_granule_blocks),
        builder_(std::move(builder)) {}

  void FinishGranule();

  std::vector<Column> columns_;
  uint32_t granule_blocks_;
  GranuleIndexBuilder builder_;
  uint64_t num_blocks_ = 0;
  bool has_rows_ = false;  // in the granule so far
};

/// The value index of a file in memory.
class ValueIndex {
 public:
  /// Null if it cannot be read, or is not for so many blocks: the file must be read as a whole.
  static std::shared_ptr<const ValueIndex> Open(std::string bytes, size_t num_blocks,
                                                uint32_t granule_blocks);

  const GranuleIndex& index() const { return *index_; }

  /// The blocks that may have a version of a row, not later than `sequence`, that matches.
  GranuleSet CandidateBlocks(const Predicate& predicate, Sequence sequence) const;

  /// Whether `block` would be read for each value that `columns` find in an entry of it.
  bool Admits(size_t block, const Entry& entry, const std::vector<Column>& columns) const;

 private:
  ValueIndex(std::string bytes, size_t num_blocks, uint32_t granule_blocks)
      : bytes_(std::move(bytes)), num_blocks_(num_blocks), granule_blocks_(granule_blocks) {}

  // Null: the column is not indexed.
  const ColumnIndex* Find(const Column& column) const;

  const std::string bytes_;
  const size_t num_blocks_;
  const uint32_t granule_blocks_;
  std::optional<GranuleIndex> index_;  // refers to bytes_
};

}  // namespace blocksieve::toylsm
