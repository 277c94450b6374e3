#include "tests/toylsm/fault_env.h"

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

namespace blocksieve::toylsm {

class FaultEnv::Writer final : public WritableFile {
 public:
  Writer(FaultEnv* env, std::string path, std::unique_ptr<WritableFile> file)
      : env_(env), path_(std::move(path)), file_(std::move(file)) {}

  Status Append(std::string_view data) override {
    Status counted = env_->CountWrite(path_);
    if (!counted.ok()) {
      // Power that is off writes nothing; what fails while it goes off is torn.
      if (env_->num_writes_ == env_->failing_write_) {
        (void)file_->Append(data.substr(0, data.size() / 2));
      }
      return counted;
    }
    const size_t room = static_cast<size_t>(std::min<uint64_t>(data.size(), env_->space_left_));
    env_->space_left_ -= room;
    Status appended = file_->Append(data.substr(0, room));
    if (!appended.ok() || room == data.size()) return appended;
    return IoError("write", path_, ENOSPC);
  }

  Status Sync() override {
    const Status counted = env_->CountWrite(path_);
    ++env_->num_syncs_;
    std::this_thread::sleep_for(env_->sync_time_.load());
    return counted.ok() ? file_->Sync() : counted;
  }

 private:
  FaultEnv* const env_;
  const std::string path_;
  const std::unique_ptr<WritableFile> file_;
};

class FaultEnv::Reader final : public ReadableFile {
 public:
  Reader(FaultEnv* env, std::string path, std::unique_ptr<ReadableFile> file)
      : env_(env), path_(std::move(path)), file_(std::move(file)) {}

  uint64_t size() const override { return file_->size(); }

  Result<size_t> Read(uint64_t offset, std::span<uint8_t> buffer) const override {
    const uint64_t number = ++env_->num_reads_;
    if (number == env_->failing_read_) return IoError("read", path_, EIO);
    if (env_->shorten_reads_ && buffer.size() > 1) {
      buffer = buffer.first(number % 4 == 0 ? 1 : buffer.size() / 2);
    }
    Result<size_t> read = file_->Read(offset, buffer);
    if (read.ok() && *read > 0 && number == env_->flipping_read_) {
      buffer[static_cast<size_t>(number * 0x9e3779b97f4a7c15 % *read)] ^=
          static_cast<uint8_t>(1u << number % 8);
    }
    return read;
  }

 private:
  FaultEnv* const env_;
  const std::string path_;
  const std::unique_ptr<ReadableFile> file_;
};

void FaultEnv::FailWrite(uint64_t n, bool for_good) {
  failing_write_ = n == 0 ? 0 : num_writes_ + n;
  fails_for_good_ = for_good;
}

Status FaultEnv::CountWrite(const std::string& path) {
  const uint64_t number = ++num_writes_;
  const uint64_t failing = failing_write_;
  const bool fails = failing != 0 && (fails_for_good_ ? number >= failing : number == failing);
  return fails ? IoError("write", path, EIO) : Status::Ok();
}

Result<std::unique_ptr<WritableFile>> FaultEnv::NewWritableFile(const std::string& path) {
  const Status counted = CountWrite(path);
  if (!counted.ok()) return counted;
  auto file = base_->NewWritableFile(path);
  if (!file.ok()) return file;
  return std::unique_ptr<WritableFile>(std::make_unique<Writer>(this, path, *std::move(file)));
}

Result<std::unique_ptr<ReadableFile>> FaultEnv::OpenFile(const std::string& path) {
  auto file = base_->OpenFile(path);
  if (!file.ok()) return file;
  return std::unique_ptr<ReadableFile>(std::make_unique<Reader>(this, path, *std::move(file)));
}

Status FaultEnv::CreateDirectory(const std::string& directory) {
  const Status counted = CountWrite(directory);
  return counted.ok() ? base_->CreateDirectory(directory) : counted;
}

Status FaultEnv::Rename(const std::string& from, const std::string& to) {
  const Status counted = CountWrite(from);
  return counted.ok() ? base_->Rename(from, to) : counted;
}

Status FaultEnv::Remove(const std::string& path) {
  const Status counted = CountWrite(path);
  return counted.ok() ? base_->Remove(path) : counted;
}

Status FaultEnv::SyncDirectory(const std::string& directory) {
  const Status counted = CountWrite(directory);
  return counted.ok() ? base_->SyncDirectory(directory) : counted;
}

}  // namespace blocksieve::toylsm
