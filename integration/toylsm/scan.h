#pragma once

#include <cstdint>
#include <string_view>

#include "blocksieve/predicate.h"
#include "integration/toylsm/iterator.h"

namespace blocksieve::toylsm {

/// What a scan planned and did.
struct ScanStats {
  uint64_t num_blocks = 0;
  uint64_t blocks_selected = 0;      ///< whether or not they are in the range of keys
  uint64_t files_without_index = 0;  ///< all of their blocks are selected
  uint64_t rows_read = 0;            ///< in these blocks, in their newest version there
  uint64_t rows_matched = 0;         ///< of these, in that version
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
  /// `use_index` false: select all blocks. `reverse`: from the last key to the first. Stands at the
  /// first row. Of keys in the range only.
  Scan(View view, const ReadContext& context, const Predicate& predicate, bool use_index = true,
       bool reverse = false, const KeyRange& range = {});

  Scan(const Scan&) = delete;
  Scan& operator=(const Scan&) = delete;

  bool Valid() const { return rows_.Valid(); }
  /// REQUIRES: Valid()
  void Next() { is_reverse_ ? rows_.Prev() : rows_.Next(); }
  std::string_view key() const { return rows_.key(); }
  std::string_view value() const { return rows_.value(); }

  /// Not ok if the scan ended because something could not be read.
  Status status() const { return rows_.status(); }

  const ScanStats& stats() const { return stats_; }

 private:
  SelectedBlocks Select(bool use_index);
  Result<bool> IsRow(std::string_view key, std::string_view value, size_t source);

  const View view_;
  const ReadContext context_;
  const Predicate predicate_;
  const bool is_reverse_;
  ScanStats stats_;
  const SelectedBlocks selected_;
  Iterator rows_;  // refers to all of these
};

}  // namespace blocksieve::toylsm
