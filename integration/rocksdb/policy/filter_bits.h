#pragma once

#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>

#include <memory>

#include "blocksieve/filter.h"
#include "blocksieve/range_filter.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"

// The adapters between RocksDB's internal filter interface and the core.

namespace blocksieve::rocksdb_plugin {

class MemoryFit;

/// A builder for the filters of one file, owned by the caller. `info_log` may be null. `memory_fit`
/// is null unless sizes are to follow those of the allocator. Null if there is no memory for it.
rocksdb::FilterBitsBuilder* NewBitsBuilder(FilterBuilder builder, rocksdb::Logger* info_log,
                                           std::shared_ptr<MemoryFit> memory_fit);

/// A reader of any filter block: one of ours, one of stock RocksDB's, or an unreadable one, which
/// may match everything. It is owned by the caller and refers to `contents`, which must outlive it.
/// Null if there is no memory for it.
rocksdb::FilterBitsReader* NewBitsReader(const rocksdb::Slice& contents);

/// Stock RocksDB's reader of any filter block, for which ours may match everything.
rocksdb::FilterBitsReader* NewStockBitsReader(const rocksdb::Slice& contents);

/// A builder that adds a range filter to what `points` builds. Owned by the caller; null if there
/// is no memory for it. `mark_files`: see MarkNextFile.
rocksdb::FilterBitsBuilder* NewRangeBitsBuilder(std::unique_ptr<rocksdb::FilterBitsBuilder> points,
                                                RangeFilterBuilder ranges, bool mark_files,
                                                rocksdb::Logger* info_log);

}  // namespace blocksieve::rocksdb_plugin
