#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/skip_index.h"
#include "integration/toylsm/base/entry.h"
#include "integration/toylsm/base/options.h"

namespace blocksieve::toylsm {

/// Makes the skip index of a file. Its granules are runs of data blocks, known by their numbers;
/// so the index need not repeat any key.
class FileSkipIndexBuilder {
 public:
  /// REQUIRES: options.value_columns is not empty. Errors: InvalidArgument.
  static Result<FileSkipIndexBuilder> Create(const Options& options);

  /// Deletes have no value, and add nothing: a scan finds out by itself what they hide.
  void Add(const Entry& entry);

  void FinishBlock();

  /// Errors: ResourceExhausted; the file is then to have no skip index.
  Result<std::string> Finish();

 private:
  FileSkipIndexBuilder(uint32_t granule_blocks, SkipIndexBuilder rows)
      : granule_blocks_(granule_blocks), rows_(std::move(rows)) {}

  void FinishGranule();

  uint32_t granule_blocks_;
  SkipIndexBuilder rows_;
  uint64_t num_blocks_ = 0;
  bool has_rows_ = false;  // in the granule so far
};

/// The skip index of a file in memory. Thread-safe.
class FileSkipIndex {
 public:
  /// Null if it cannot be read, or is not for so many blocks: the file must be read as a whole.
  /// REQUIRES: granule_blocks > 0
  static std::shared_ptr<const FileSkipIndex> Open(std::string bytes, size_t num_blocks,
                                                   uint32_t granule_blocks);

  const SkipIndexReader& index() const { return *index_; }

  /// The blocks that may have a version of a row, not later than `sequence`, that matches.
  GranuleSet CandidateBlocks(const Predicate& predicate, Sequence sequence) const;

  /// Whether `block` would be read for each value that `columns` find in an entry of it.
  bool Admits(size_t block, const Entry& entry, const std::vector<Column>& columns) const;

 private:
  FileSkipIndex(std::string bytes, size_t num_blocks, uint32_t granule_blocks)
      : bytes_(std::move(bytes)), num_blocks_(num_blocks), granule_blocks_(granule_blocks) {}

  const std::string bytes_;
  const size_t num_blocks_;
  const uint32_t granule_blocks_;
  std::optional<SkipIndexReader> index_;  // refers to bytes_
};

}  // namespace blocksieve::toylsm
