#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>

namespace blocksieve::testing {

/// Another file system that fails for good after so many changes, as the disk of a machine does
/// when the process is killed. What was not synced then can be taken away, as when the power fails.
/// Of tables and what lies beside them only: logs and manifests are RocksDB's affair.
class DyingDisk final : public rocksdb::FileSystemWrapper {
 public:
  DyingDisk(const std::shared_ptr<rocksdb::FileSystem>& files, int64_t changes)
      : FileSystemWrapper(files), changes_left_(changes) {}

  const char* Name() const override { return "DyingDisk"; }

  bool is_dead() const { return changes_left_ < 0; }

  /// Each file and each end of a file that was not synced goes or stays at random.
  void LosePower(uint64_t seed) {
    std::mt19937_64 random(seed);
    for (const auto& [path, file] : files_) {
      std::error_code ignored;
      if (!file.entry_is_synced && random() % 2 == 0) {
        std::filesystem::remove(path, ignored);
      } else if (file.synced_bytes < file.bytes && random() % 2 == 0) {
        std::filesystem::resize_file(path, file.synced_bytes, ignored);
      }
    }
  }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    if (!Change()) return Dead();
    rocksdb::IOStatus status = target()->NewWritableFile(path, options, file, debug);
    if (!status.ok()) return status;
    {
      const std::lock_guard lock(mutex_);
      if (IsTracked(path)) files_[path] = {};
    }
    *file = std::make_unique<File>(std::move(*file), path, this);
    return status;
  }
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    if (!Change()) return Dead();
    rocksdb::IOStatus status = target()->RenameFile(from, to, options, debug);
    const std::lock_guard lock(mutex_);
    if (status.ok() && IsTracked(to)) {
      files_[to] = files_[from];
      files_[to].entry_is_synced = false;
      files_.erase(from);
    }
    return status;
  }
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    if (!Change()) return Dead();
    const std::lock_guard lock(mutex_);
    files_.erase(path);
    return target()->DeleteFile(path, options, debug);
  }
  rocksdb::IOStatus NewDirectory(const std::string& path, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = target()->NewDirectory(path, options, directory, debug);
    if (status.ok()) *directory = std::make_unique<Directory>(std::move(*directory), this);
    return status;
  }

 private:
  struct TrackedFile {
    uint64_t bytes = 0;
    uint64_t synced_bytes = 0;
    bool entry_is_synced = false;
  };

  class File final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile> file, std::string path, DyingDisk* disk)
        : FSWritableFileOwnerWrapper(std::move(file)), path_(std::move(path)), disk_(disk) {}

    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
      if (!disk_->Change()) return Dead();
      disk_->Grow(path_, data.size());
      return FSWritableFileOwnerWrapper::Append(data, options, debug);
    }
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             const rocksdb::DataVerificationInfo&,
                             rocksdb::IODebugContext* debug) override {
      return Append(data, options, debug);
    }
    rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
      if (!disk_->Change()) return Dead();
      disk_->Synced(path_);
      return rocksdb::IOStatus::OK();  // the machine itself goes on
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options,
                            rocksdb::IODebugContext* debug) override {
      return Sync(options, debug);
    }

   private:
    const std::string path_;
    DyingDisk* const disk_;
  };

  class Directory final : public rocksdb::FSDirectoryWrapper {
   public:
    Directory(std::unique_ptr<rocksdb::FSDirectory> directory, DyingDisk* disk)
        : FSDirectoryWrapper(std::move(directory)), disk_(disk) {}

    rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
      if (!disk_->Change()) return Dead();
      disk_->EntriesSynced();
      return rocksdb::IOStatus::OK();
    }
    rocksdb::IOStatus FsyncWithDirOptions(const rocksdb::IOOptions& options,
                                          rocksdb::IODebugContext* debug,
                                          const rocksdb::DirFsyncOptions&) override {
      return Fsync(options, debug);
    }

   private:
    DyingDisk* const disk_;
  };

  static bool IsTracked(const std::string& path) {
    return path.ends_with(".sst") || path.find(".bsx") != std::string::npos;
  }
  static rocksdb::IOStatus Dead() { return rocksdb::IOStatus::IOError("the disk is dead"); }

  bool Change() { return --changes_left_ >= 0; }
  void Grow(const std::string& path, uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (IsTracked(path)) files_[path].bytes += bytes;
  }
  void Synced(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (IsTracked(path)) files_[path].synced_bytes = files_[path].bytes;
  }
  void EntriesSynced() {
    const std::lock_guard lock(mutex_);
    for (auto& [path, file] : files_) file.entry_is_synced = true;
  }

  std::atomic<int64_t> changes_left_;
  std::mutex mutex_;
  std::map<std::string, TrackedFile> files_;
};

/// An environment with this file system, in which RocksDB does not sleep for a second before it
/// goes on after an error.
class ImpatientEnv final : public rocksdb::EnvWrapper {
 public:
  explicit ImpatientEnv(std::shared_ptr<rocksdb::FileSystem> files)
      : EnvWrapper(rocksdb::Env::Default()) {
    file_system_ = std::move(files);
    system_clock_ = std::make_shared<Clock>(rocksdb::SystemClock::Default());
  }

 private:
  class Clock final : public rocksdb::SystemClockWrapper {
   public:
    using SystemClockWrapper::SystemClockWrapper;
    const char* Name() const override { return "ImpatientClock"; }
    void SleepForMicroseconds(int microseconds) override {
      SystemClockWrapper::SleepForMicroseconds(std::min(microseconds, 1000));
    }
  };
};

}  // namespace blocksieve::testing
