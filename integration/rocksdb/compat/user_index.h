#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

// RocksDB's user-defined index as we use it is declared since 11.2.
#if ROCKSDB_MAJOR > 11 || (ROCKSDB_MAJOR == 11 && ROCKSDB_MINOR >= 2)
#define BLOCKSIEVE_HAS_USER_INDEX 1
#include <rocksdb/multi_scan.h>
#include <rocksdb/user_defined_index.h>
#else
#define BLOCKSIEVE_HAS_USER_INDEX 0
#endif
