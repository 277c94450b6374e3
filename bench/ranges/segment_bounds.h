#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/options.h>
#include <rocksdb/table_properties.h>
#include <rocksdb/version.h>

#include <memory>
#include <string>

#include "bench/ranges/datasets.h"

namespace blocksieve::bench::ranges {

/// Whether RocksDB has SstQueryFilterConfigs, which keep the lowest and the highest value of each
/// segment of the keys of a file.
inline constexpr bool kHasSegmentBounds = ROCKSDB_MAJOR >= 9;

/// Writes them into files. Segments end at the boundaries of the option `prefixes`, and the last
/// one at the end of the key. REQUIRES: kHasSegmentBounds
std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> NewSegmentBounds(
    const std::string& prefixes);

/// Makes seeks of `range` skip the files that `bounds`, of NewSegmentBounds, rule out.
void SkipFiles(const rocksdb::TablePropertiesCollectorFactory& bounds, const Range& range,
               rocksdb::ReadOptions* read);

}  // namespace blocksieve::bench::ranges
