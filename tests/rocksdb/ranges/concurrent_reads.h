#pragma once

#include <rocksdb/db.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/rocksdb/ranges/model_report.h"

namespace blocksieve::testing {

/// Threads that seek while others write: at one snapshot, with an upper bound as without.
class ConcurrentReads {
 public:
  ConcurrentReads(rocksdb::DB* db, int threads, bool timestamps, bool plain_reads, uint64_t seed);
  ConcurrentReads(const ConcurrentReads&) = delete;
  ConcurrentReads& operator=(const ConcurrentReads&) = delete;
  ~ConcurrentReads() { Stop(nullptr); }

  /// Ends the threads, and adds what they found, unless null.
  void Stop(ModelReport* report);

 private:
  void Read(ModelReport* report, uint64_t seed);

  rocksdb::DB* const db_;
  const bool timestamps_;
  const bool plain_reads_;
  std::atomic<bool> stop_ = false;
  std::vector<ModelReport> reports_;
  std::vector<std::thread> threads_;
};

}  // namespace blocksieve::testing
