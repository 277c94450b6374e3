#pragma once

#include <rocksdb/version.h>

// Generations of RocksDB's internal filter interface, by version:
//
//   1 (A)   7.0.3 to 9.5     the base
//   2 (B)   9.6 to 10.8      AddKeyAndAlt after AddKey
//   3 (C)   10.9 to 11.9     CalculateSpace and EstimatedFpRate at the end
//
// Read off the upstream sources of those versions. A later version is compiled as generation 3, but
// refused at run time until somebody has compared it (abi_guard.h).

#define BLOCKSIEVE_ROCKSDB_VERSION (ROCKSDB_MAJOR * 10000 + ROCKSDB_MINOR * 100 + ROCKSDB_PATCH)

#if BLOCKSIEVE_ROCKSDB_VERSION < 70003
#error "blocksieve needs RocksDB 7.0.3 or later: earlier versions have no CompatibilityName()"
#elif BLOCKSIEVE_ROCKSDB_VERSION < 90600
#define BLOCKSIEVE_ABI_GENERATION 1
#elif BLOCKSIEVE_ROCKSDB_VERSION < 100900
#define BLOCKSIEVE_ABI_GENERATION 2
#else
#define BLOCKSIEVE_ABI_GENERATION 3
#endif
