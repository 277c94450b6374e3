#pragma once

#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <cstdint>

#include "blocksieve/skip_index_explanation.h"

namespace blocksieve::rocksdb_plugin {

/// Adds the blocks that this thread reads during its life to the counts.
class BlockCounter {
 public:
  BlockCounter(bool enabled, ScanExplanation* counts)
      : counts_(enabled ? counts : nullptr), level_(rocksdb::GetPerfLevel()) {
    if (counts_ == nullptr) return;
    if (level_ < rocksdb::PerfLevel::kEnableCount) {
      rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    }
    blocks_ = Blocks();
    other_blocks_ = OtherBlocks();
    bytes_ = rocksdb::get_perf_context()->block_read_byte;
  }
  BlockCounter(const BlockCounter&) = delete;
  BlockCounter& operator=(const BlockCounter&) = delete;
  ~BlockCounter() {
    if (counts_ == nullptr) return;
    const uint64_t other = OtherBlocks() - other_blocks_;
    counts_->other_blocks_read += other;
    counts_->data_blocks_read += Blocks() - blocks_ - other;
    counts_->block_bytes_read += rocksdb::get_perf_context()->block_read_byte - bytes_;
    rocksdb::SetPerfLevel(level_);
  }

 private:
  static uint64_t Blocks() { return rocksdb::get_perf_context()->block_read_count; }
  static uint64_t OtherBlocks() {
    const rocksdb::PerfContext& context = *rocksdb::get_perf_context();
    return context.index_block_read_count + context.filter_block_read_count +
           context.compression_dict_block_read_count;
  }

  ScanExplanation* const counts_;
  const rocksdb::PerfLevel level_;
  uint64_t blocks_ = 0;
  uint64_t other_blocks_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace blocksieve::rocksdb_plugin
