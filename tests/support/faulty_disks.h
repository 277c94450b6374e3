#pragma once  // SPDX-License-Identifier: Apache-2.0

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

/// A file system without syncs, in which tests would otherwise spend their time. Derived classes
/// are called before each append and sync, and can make it fail.
class UnsyncedFiles : public rocksdb::FileSystemWrapper {
 public:
  explicit UnsyncedFiles(
      const std::shared_ptr<rocksdb::FileSystem>& files = rocksdb::FileSystem::Default())
      : FileSystemWrapper(files) {}

  const char* Name() const override { return "UnsyncedFiles"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    return Wrap(path, target()->NewWritableFile(path, options, file, debug), file);
  }
  rocksdb::IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* file,
                                       rocksdb::IODebugContext* debug) override {
    return Wrap(path, target()->ReopenWritableFile(path, options, file, debug), file);
  }
  rocksdb::IOStatus NewDirectory(const std::string&, const rocksdb::IOOptions&,
                                 std::unique_ptr<rocksdb::FSDirectory>* directory,
                                 rocksdb::IODebugContext*) override {
    *directory = std::make_unique<Directory>(this);
    return rocksdb::IOStatus::OK();
  }

 protected:
  virtual rocksdb::IOStatus BeforeAppend(const std::string&, uint64_t) { return {}; }
  virtual rocksdb::IOStatus BeforeSync(const std::string&) { return {}; }
  virtual rocksdb::IOStatus BeforeDirectorySync() { return {}; }

 private:
  class File final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile> file, std::string path, UnsyncedFiles* files)
        : FSWritableFileOwnerWrapper(std::move(file)), path_(std::move(path)), files_(files) {}

    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
      const rocksdb::IOStatus status = files_->BeforeAppend(path_, data.size());
      return status.ok() ? FSWritableFileOwnerWrapper::Append(data, options, debug) : status;
    }
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             const rocksdb::DataVerificationInfo&,
                             rocksdb::IODebugContext* debug) override {
      return Append(data, options, debug);
    }
    rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
      return files_->BeforeSync(path_);
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
      return files_->BeforeSync(path_);
    }

   private:
    const std::string path_;
    UnsyncedFiles* const files_;
  };

  class Directory final : public rocksdb::FSDirectory {
   public:
    explicit Directory(UnsyncedFiles* files) : files_(files) {}

    rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
      return files_->BeforeDirectorySync();
    }

   private:
    UnsyncedFiles* const files_;
  };

  rocksdb::IOStatus Wrap(const std::string& path, rocksdb::IOStatus status,
                         std::unique_ptr<rocksdb::FSWritableFile>* file) {
    if (status.ok()) *file = std::make_unique<File>(std::move(*file), path, this);
    return status;
  }
};

/// A disk with limited space: appends beyond it fail.
class FullDisk final : public UnsyncedFiles {
 public:
  /// `tables_only`: the limit applies to SST files only.
  FullDisk(uint64_t bytes, bool tables_only)
      : bytes_left_(static_cast<int64_t>(bytes)), tables_only_(tables_only) {}

  const char* Name() const override { return "FullDisk"; }

  uint64_t failed_appends() const { return failed_appends_; }

  /// Leaves this much space.
  void Fill(uint64_t bytes) { bytes_left_ = static_cast<int64_t>(bytes); }

  /// RocksDB calls this before it tries to recover. With free space, it would fail again and again,
  /// and 7.8 sometimes never finishes closing a database meanwhile.
  rocksdb::IOStatus GetFreeSpace(const std::string&, const rocksdb::IOOptions&, uint64_t* bytes,
                                 rocksdb::IODebugContext*) override {
    *bytes = static_cast<uint64_t>(std::max<int64_t>(bytes_left_, 0));
    return rocksdb::IOStatus::OK();
  }

 private:
  rocksdb::IOStatus BeforeAppend(const std::string& path, uint64_t bytes) override {
    if (tables_only_ && !path.ends_with(".sst")) return {};
    if ((bytes_left_ -= static_cast<int64_t>(bytes)) >= 0) return {};
    ++failed_appends_;
    return rocksdb::IOStatus::NoSpace("the disk is full");
  }

  std::atomic<int64_t> bytes_left_;
  const bool tables_only_;
  std::atomic<uint64_t> failed_appends_ = 0;
};

/// A disk that fails for good after this many changes, as if the process were killed. LosePower
/// then drops unsynced data, as if the power failed: only of SSTs and sidecars, since logs and
/// manifests are RocksDB's concern.
class DyingDisk final : public UnsyncedFiles {
 public:
  explicit DyingDisk(int64_t changes) : changes_left_(changes) {}

  const char* Name() const override { return "DyingDisk"; }

  bool is_dead() const { return changes_left_ < 0; }

  /// Drops or keeps, at random, each unsynced file and each unsynced end of a file.
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
    rocksdb::IOStatus status = Change();
    if (status.ok()) status = UnsyncedFiles::NewWritableFile(path, options, file, debug);
    const std::lock_guard lock(mutex_);
    if (status.ok() && IsTracked(path)) files_[path] = {};
    return status;
  }
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = Change();
    if (status.ok()) status = target()->RenameFile(from, to, options, debug);
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
    rocksdb::IOStatus status = Change();
    if (!status.ok()) return status;
    const std::lock_guard lock(mutex_);
    files_.erase(path);
    return target()->DeleteFile(path, options, debug);
  }

 private:
  struct TrackedFile {
    uint64_t bytes = 0;
    uint64_t synced_bytes = 0;
    bool entry_is_synced = false;
  };

  static bool IsTracked(const std::string& path) {
    return path.ends_with(".sst") || path.find(".bsx") != std::string::npos;
  }

  rocksdb::IOStatus Change() {
    if (--changes_left_ >= 0) return {};
    return rocksdb::IOStatus::IOError("the disk is dead");
  }

  rocksdb::IOStatus BeforeAppend(const std::string& path, uint64_t bytes) override {
    rocksdb::IOStatus status = Change();
    const std::lock_guard lock(mutex_);
    if (status.ok() && IsTracked(path)) files_[path].bytes += bytes;
    return status;
  }
  rocksdb::IOStatus BeforeSync(const std::string& path) override {
    rocksdb::IOStatus status = Change();
    const std::lock_guard lock(mutex_);
    if (status.ok() && IsTracked(path)) files_[path].synced_bytes = files_[path].bytes;
    return status;
  }
  rocksdb::IOStatus BeforeDirectorySync() override {
    rocksdb::IOStatus status = Change();
    const std::lock_guard lock(mutex_);
    if (!status.ok()) return status;
    for (auto& [path, file] : files_) file.entry_is_synced = true;
    return status;
  }

  std::atomic<int64_t> changes_left_;
  std::mutex mutex_;
  std::map<std::string, TrackedFile> files_;
};

/// An environment with this file system, in which RocksDB does not sleep for a second after an
/// error.
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
