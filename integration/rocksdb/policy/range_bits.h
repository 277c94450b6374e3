#pragma once

#include <rocksdb/slice.h>

#include <memory>

#include "blocksieve/filter_reader.h"
#include "blocksieve/range_filter.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"

// What filters with ranges add to those for points.

namespace rocksdb {
class Logger;
}

namespace blocksieve::rocksdb_plugin {

/// A builder that adds a range filter to what `points` builds. Owned by the caller; null if there
/// is no memory for it. `mark_files`: see MarkNextFile.
rocksdb::FilterBitsBuilder* NewRangeBitsBuilder(std::unique_ptr<rocksdb::FilterBitsBuilder> points,
                                                RangeFilterBuilder ranges, bool mark_files,
                                                rocksdb::Logger* info_log);

/// Counts a question for the prefix of all keys to a filter that has no ranges.
void CountUnfilteredRange(const rocksdb::Slice& prefix) noexcept;

/// What the filters of a block say to a question for the prefix of all keys, which is empty.
/// REQUIRES: ranges.is_ready()
bool MayMatchRange(const RangeFilterReader& ranges, const FilterReader& points,
                   const rocksdb::Slice& prefix) noexcept;

}  // namespace blocksieve::rocksdb_plugin
