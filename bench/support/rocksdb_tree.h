#pragma once

#include <rocksdb/db.h>
#include <rocksdb/status.h>

#include <cstdint>

namespace blocksieve::bench {

/// Compacts all files of level 0 into uncompressed files of at most `file_bytes` on `level`.
rocksdb::Status MoveLevel0To(rocksdb::DB& db, int level, uint64_t file_bytes);

/// A file size that gives some files to rows of so many bytes, and is at most RocksDB's default.
uint64_t TargetFileBytes(uint64_t num_bytes);

}  // namespace blocksieve::bench
