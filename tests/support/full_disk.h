#pragma once

#include <rocksdb/file_system.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace blocksieve::testing {

/// Another file system with little room: appends beyond it fail, as on a disk that is full.
class FullDisk final : public rocksdb::FileSystemWrapper {
 public:
  /// `tables_only`: the room is for SST files, and there is no end of it for others.
  FullDisk(const std::shared_ptr<rocksdb::FileSystem>& files, uint64_t bytes, bool tables_only)
      : FileSystemWrapper(files),
        bytes_left_(static_cast<int64_t>(bytes)),
        tables_only_(tables_only) {}

  const char* Name() const override { return "FullDisk"; }

  /// From here on there is room again.
  void Clear() { bytes_left_ = INT64_MAX; }

  uint64_t failed_appends() const { return failed_appends_; }

  /// RocksDB asks before it tries to go on by itself. With room, it would fail again and again, and
  /// 7.8 sometimes never closes a database that it closes meanwhile.
  rocksdb::IOStatus GetFreeSpace(const std::string&, const rocksdb::IOOptions&, uint64_t* bytes,
                                 rocksdb::IODebugContext*) override {
    *bytes = static_cast<uint64_t>(std::max<int64_t>(bytes_left_, 0));
    return rocksdb::IOStatus::OK();
  }

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
  rocksdb::IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                                      const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* file,
                                      rocksdb::IODebugContext* debug) override {
    return Wrap(path, target()->ReuseWritableFile(path, old_path, options, file, debug), file);
  }

 private:
  class File final : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile> file, FullDisk* disk)
        : FSWritableFileOwnerWrapper(std::move(file)), disk_(disk) {}

    using FSWritableFileOwnerWrapper::Append;
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
      if (!disk_->Take(data.size())) return rocksdb::IOStatus::NoSpace("the disk is full");
      return FSWritableFileOwnerWrapper::Append(data, options, debug);
    }
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             const rocksdb::DataVerificationInfo& verification,
                             rocksdb::IODebugContext* debug) override {
      if (!disk_->Take(data.size())) return rocksdb::IOStatus::NoSpace("the disk is full");
      return FSWritableFileOwnerWrapper::Append(data, options, verification, debug);
    }

   private:
    FullDisk* const disk_;
  };

  bool Take(size_t bytes) {
    if ((bytes_left_ -= static_cast<int64_t>(bytes)) >= 0) return true;
    ++failed_appends_;
    return false;
  }

  rocksdb::IOStatus Wrap(const std::string& path, rocksdb::IOStatus status,
                         std::unique_ptr<rocksdb::FSWritableFile>* file) {
    const bool is_limited = !tables_only_ || path.ends_with(".sst");
    if (status.ok() && is_limited) *file = std::make_unique<File>(std::move(*file), this);
    return status;
  }

  std::atomic<int64_t> bytes_left_;
  const bool tables_only_;
  std::atomic<uint64_t> failed_appends_ = 0;
};

}  // namespace blocksieve::testing
