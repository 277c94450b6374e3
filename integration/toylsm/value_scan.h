#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <string_view>

#include "blocksieve/predicate.h"
#include "integration/toylsm/iterator.h"
#include "integration/toylsm/version.h"

namespace blocksieve::toylsm {

/// Iterates over the rows whose value matches a predicate, in key order: the rows that an Iterator
/// would return, but without reading granules that the skip indexes prune.
///
/// The scan merges the selected granules of all files and the whole memtable. The newest entry of a
/// key in this merge may be stale, because a newer one may be in a pruned granule. So
///   - an entry that does not match, or is a delete, is no row. A newer one in a pruned granule
///     does not match either, and older ones are hidden;
///   - an entry that matches is re-checked: the key is looked up in newer files, like Get does, but
///     only in pruned granules, as the others are in the merge. If a newer file has the key, the
///     entry is stale.
/// Pruning inside an Iterator would be wrong: pruning a newer entry would resurrect an older one.
class ValueScan {
 public:
  /// Moves to the first row. Without `use_index`, all granules are selected.
  ValueScan(std::shared_ptr<const Version> version, const ReadContext& context,
            const Predicate& predicate, bool use_index);
  ValueScan(const ValueScan&) = delete;
  ValueScan& operator=(const ValueScan&) = delete;

  bool Valid() const { return status_.ok() && entries_.Valid(); }
  /// REQUIRES: Valid()
  void Next() {
    entries_.Next();
    FindRow();
  }
  /// Valid until the scan moves, or the key is written again.
  std::string_view key() const { return entries_.entry().key; }
  std::string_view value() const { return *entries_.entry().value; }

  /// Not ok if the scan ended because of a read error.
  Status status() const { return status_.ok() ? entries_.status() : status_; }

 private:
  SelectedBlocks Prune(bool use_index);
  void FindRow();
  Result<bool> IsStale(std::string_view key, size_t source);

  const std::shared_ptr<const Version> version_;
  const ReadContext context_;
  const Predicate predicate_;
  const SelectedBlocks selected_;
  MergingIterator entries_;  // refers to the members above
  Status status_;
};

}  // namespace blocksieve::toylsm
