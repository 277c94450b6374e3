#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/granule_set.h"
#include "blocksieve/predicate.h"
#include "integration/toylsm/iterator.h"

namespace blocksieve::toylsm {

/// What a scan planned and did.
struct ScanStats {
  uint64_t num_blocks = 0;
  uint64_t blocks_selected = 0;
  uint64_t files_without_index = 0;  ///< all of their blocks are selected
  uint64_t rows_matched = 0;         ///< in some version
  uint64_t rows_rechecked = 0;       ///< of these, looked up in newer files
  uint64_t rows_stale = 0;           ///< of these, overwritten or deleted there
};

/// The rows of a view whose value matches a predicate, in key order: exactly those that an Iterator
/// would show, but reading only the data blocks that may hold one, and those that must be asked
/// whether it is still so.
///
/// It merges the selected blocks of all files, and the whole memtable, as an Iterator merges all of
/// them. In that stream the newest visible version of a key need not be the newest there is: blocks
/// that cannot match were left out. So
///   - if it does not match, or is a delete, the row is none: a newer version in a block that was
///     left out does not match either, and an older one is hidden;
///   - if it matches, the files that are newer than its own are asked for the key, as a Get would
///     ask them, key filters first; only where their block was left out, else it would be in the
///     stream. If they have the key, the row is stale.
/// Leaving out a block for holding nothing that matches would be wrong in an Iterator itself: it
/// would bring older versions back.
class Scan {
 public:
  /// `use_index` false: select all blocks. Stands at the first row.
  Scan(View view, const ReadContext& context, const Predicate& predicate, bool use_index = true);

  bool Valid() const { return is_valid_; }
  /// REQUIRE: Valid()
  void Next();
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

  /// Not ok if the scan ended because something could not be read.
  Status status() const { return status_.ok() ? entries_.status() : status_; }

  const ScanStats& stats() const { return stats_; }

 private:
  using BlocksOfFiles = std::vector<GranuleSet>;

  std::vector<BlocksOfFiles> Select(bool use_index);
  std::vector<std::unique_ptr<EntryIterator>> Sources() const;
  void FindForward();
  bool IsStale(size_t source);

  const View view_;
  const ReadContext context_;
  const Predicate predicate_;
  ScanStats stats_;
  const std::vector<BlocksOfFiles> selected_;  // by run
  MergingIterator entries_;
  bool is_valid_ = false;
  std::string key_;
  std::string value_;
  Status status_;
};

}  // namespace blocksieve::toylsm
