#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "integration/toylsm/base/env.h"

namespace blocksieve::toylsm {

/// Another Env whose files fail on demand.
class FaultEnv final : public Env {
 public:
  /// `base` must outlive this.
  explicit FaultEnv(Env* base) : base_(base) {}

  /// Operations so far: those that change something, and reads.
  uint64_t num_writes() const { return num_writes_; }
  uint64_t num_reads() const { return num_reads_; }
  uint64_t num_syncs() const { return num_syncs_; }  ///< of files

  /// The n-th operation from now on fails, an Append after half of its bytes; with `for_good`, as
  /// before a power loss, all later changes too. 0: none.
  void FailWrite(uint64_t n, bool for_good);
  void FailRead(uint64_t n) { failing_read_ = n == 0 ? 0 : num_reads_ + n; }

  /// Appends beyond so many bytes fail, after as much as there is room for.
  void LimitSpace(uint64_t bytes) { space_left_ = bytes; }

  /// Every sync of a file takes so long.
  void SlowSyncsDown(std::chrono::microseconds time) { sync_time_ = time; }

  /// Reads return half of what was asked for, or a single byte.
  void ShortenReads(bool shorten) { shorten_reads_ = shorten; }

  /// The n-th read from now on has one bit flipped. 0: none.
  void FlipBitOfRead(uint64_t n) { flipping_read_ = n == 0 ? 0 : num_reads_ + n; }

  Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path) override;
  Result<std::unique_ptr<ReadableFile>> OpenFile(const std::string& path) override;
  Result<bool> Exists(const std::string& path) override { return base_->Exists(path); }
  Result<std::vector<std::string>> List(const std::string& directory) override {
    return base_->List(directory);
  }
  Status CreateDirectory(const std::string& directory) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status SyncDirectory(const std::string& directory) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    return base_->Lock(path);
  }

 private:
  class Writer;
  class Reader;

  Status CountWrite(const std::string& path);

  Env* const base_;
  std::atomic<uint64_t> num_writes_ = 0;
  std::atomic<uint64_t> num_reads_ = 0;
  std::atomic<uint64_t> failing_write_ = 0;  // its number; 0: none
  std::atomic<bool> fails_for_good_ = false;
  std::atomic<uint64_t> failing_read_ = 0;
  std::atomic<uint64_t> flipping_read_ = 0;
  std::atomic<uint64_t> space_left_ = std::numeric_limits<uint64_t>::max();
  std::atomic<bool> shorten_reads_ = false;
  std::atomic<uint64_t> num_syncs_ = 0;
  std::atomic<std::chrono::microseconds> sync_time_ = std::chrono::microseconds(0);
};

}  // namespace blocksieve::toylsm
