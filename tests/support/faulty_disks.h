#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace blocksieve::testing {

/// A file system without syncs, in which tests would otherwise spend their time. Derived classes
/// are called before each append, and can make it fail.
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
    *directory = std::make_unique<Directory>();
    return rocksdb::IOStatus::OK();
  }

 protected:
  virtual rocksdb::IOStatus BeforeAppend(const std::string&, uint64_t) { return {}; }

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
      return {};
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
      return {};
    }

   private:
    const std::string path_;
    UnsyncedFiles* const files_;
  };

  struct Directory final : rocksdb::FSDirectory {
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
      return {};
    }
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

  /// Whether an append has failed.
  bool is_full() const { return is_full_; }

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
    is_full_ = true;
    return rocksdb::IOStatus::NoSpace("the disk is full");
  }

  std::atomic<int64_t> bytes_left_;
  const bool tables_only_;
  std::atomic<bool> is_full_ = false;
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
