#pragma once

#include <rocksdb/db.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace blocksieve::cli {

/// Tells, a few times a second and from a thread of its own, how far a compaction of the whole
/// default column family has come: by the bytes of the SSTs that are new, of those that there were.
/// RocksDB itself tells only when it is done.
class CompactionWatch {
 public:
  using Report = std::function<void(uint64_t done, uint64_t all)>;

  /// To be made before the compaction begins. `db` must outlive it.
  CompactionWatch(rocksdb::DB* db, Report report);
  ~CompactionWatch() { End(); }
  CompactionWatch(const CompactionWatch&) = delete;
  CompactionWatch& operator=(const CompactionWatch&) = delete;

  /// No report comes after it.
  void End();

 private:
  void Run();
  uint64_t BytesOfNewFiles() const;

  const std::string path_;
  const Report report_;
  uint64_t last_number_ = 0;  // of the SSTs that there were
  uint64_t all_bytes_ = 0;    // of them

  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_ended_ = false;
  std::thread thread_;
};

}  // namespace blocksieve::cli
