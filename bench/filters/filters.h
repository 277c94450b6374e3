#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <memory>
#include <string>

#include "bench/support/job.h"

namespace blocksieve::bench::filters {

/// Measures, for each kind, the size of filters above the lower bound of all filters, by FPR and
/// number of keys; and one large filter, which is probed for each of its keys. Throws Failure.
void MeasureSizes(Job& job);

using Policy = std::shared_ptr<const rocksdb::FilterPolicy>;

inline constexpr uint64_t kPartitionedKeys = 3'000'000;

/// Heap memory of a new file's partitions of 4 KiB, all loaded, that the block cache is not
/// charged, in bytes. `policy`: null for no filter. Throws Failure.
double MeasureUncharged(const Policy& policy, const std::string& path);

}  // namespace blocksieve::bench::filters
