#include "integration/cli/rocksdb/noted_reads.h"

#include <rocksdb/file_system.h>

#include <utility>

namespace blocksieve::cli {
namespace {

using Offset = std::shared_ptr<std::atomic<uint64_t>>;

class NotingFile final : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  NotingFile(std::unique_ptr<rocksdb::FSRandomAccessFile> file, Offset last_offset)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), last_offset_(std::move(last_offset)) {}

  rocksdb::IOStatus Read(uint64_t offset, size_t size, const rocksdb::IOOptions& options,
                         rocksdb::Slice* result, char* scratch,
                         rocksdb::IODebugContext* context) const override {
    *last_offset_ = offset;
    return FSRandomAccessFileOwnerWrapper::Read(offset, size, options, result, scratch, context);
  }

 private:
  const Offset last_offset_;
};

class NotingFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  explicit NotingFileSystem(Offset last_offset)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), last_offset_(std::move(last_offset)) {}

  const char* Name() const override { return "blocksieve.noting_file_system"; }

  rocksdb::IOStatus NewRandomAccessFile(const std::string& path,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* context) override {
    rocksdb::IOStatus status = FileSystemWrapper::NewRandomAccessFile(path, options, file, context);
    if (status.ok()) *file = std::make_unique<NotingFile>(std::move(*file), last_offset_);
    return status;
  }

 private:
  const Offset last_offset_;
};

}  // namespace

NotedReads::NotedReads()
    : last_offset_(std::make_shared<std::atomic<uint64_t>>(0)),
      env_(rocksdb::NewCompositeEnv(std::make_shared<NotingFileSystem>(last_offset_))) {}

}  // namespace blocksieve::cli
