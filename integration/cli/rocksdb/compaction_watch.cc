#include "integration/cli/rocksdb/compaction_watch.h"

#include <rocksdb/metadata.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::cli {

using rocksdb_plugin::FileNumberOf;

CompactionWatch::CompactionWatch(rocksdb::DB* db, Report report)
    : path_(db->GetName()), report_(std::move(report)) {
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(&metadata);
  all_bytes_ = metadata.size;
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      last_number_ = std::max(last_number_, FileNumberOf(file.name));
    }
  }
  thread_ = std::thread([this] { Run(); });
}

void CompactionWatch::End() {
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
  }
  ends_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void CompactionWatch::Run() {
  constexpr auto kPause = std::chrono::milliseconds(250);
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, kPause, [this] { return is_ended_; })) {
    report_(std::min(BytesOfNewFiles(), all_bytes_), all_bytes_);
  }
}

uint64_t CompactionWatch::BytesOfNewFiles() const {
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path_, error)) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".sst") || FileNumberOf(name) <= last_number_) continue;
    std::error_code vanished;
    const uint64_t size = entry.file_size(vanished);
    if (!vanished) bytes += size;
  }
  return bytes;
}

}  // namespace blocksieve::cli
