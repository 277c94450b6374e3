#pragma once  // SPDX-License-Identifier: Apache-2.0

// Included first, simulates RocksDB headers of version
// SIMULATED_MAJOR.SIMULATED_MINOR.SIMULATED_PATCH.

#include <rocksdb/version.h>

#undef ROCKSDB_MAJOR
#undef ROCKSDB_MINOR
#undef ROCKSDB_PATCH
#define ROCKSDB_MAJOR SIMULATED_MAJOR
#define ROCKSDB_MINOR SIMULATED_MINOR
#define ROCKSDB_PATCH SIMULATED_PATCH
