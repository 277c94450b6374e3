#pragma once

#include <rocksdb/env.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace blocksieve::cli {

/// An environment that notes where files are read: RocksDB's API does not tell at which place of a
/// file a key is.
class NotedReads {
 public:
  NotedReads();

  /// RocksDB's own but for that. Lives as long as this.
  rocksdb::Env* env() const { return env_.get(); }

  /// Where the last read of a file with random access began, of all that were opened by env().
  uint64_t last_offset() const { return *last_offset_; }

 private:
  const std::shared_ptr<std::atomic<uint64_t>> last_offset_;
  const std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace blocksieve::cli
