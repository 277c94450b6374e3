// SPDX-License-Identifier: Apache-2.0
#include "integration/toylsm/base/env.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "lib/base/errors.h"

namespace blocksieve::toylsm {

Result<std::string> ReadWhole(Env* env, const std::string& path) {
  BLOCKSIEVE_ASSIGN_OR_RETURN(const auto file, env->OpenFile(path));
  return file->Read(0, file->size());
}

Status IoError(std::string_view operation, const std::string& path, int error_number) {
  return Status::ResourceExhausted(std::string(operation) + " " + path + ": " +
                                   std::generic_category().message(error_number));
}

namespace {

Status OkIf(bool has_succeeded, std::string_view operation, const std::string& path) {
  return has_succeeded ? Status::Ok() : IoError(operation, path, errno);
}

using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Stream OpenStream(const std::string& path, const char* mode) {
  return {std::fopen(path.c_str(), mode), &std::fclose};
}

class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(std::string path, Stream file)
      : path_(std::move(path)), file_(std::move(file)) {}

  // Flushed to the operating system, so that acknowledged writes survive a kill.
  Status Append(std::string_view data) override {
    const bool is_written = std::fwrite(data.data(), 1, data.size(), file_.get()) == data.size();
    return OkIf(is_written && std::fflush(file_.get()) == 0, "write", path_);
  }

  Status Sync() override { return OkIf(::fdatasync(::fileno(file_.get())) == 0, "sync", path_); }

 private:
  const std::string path_;
  const Stream file_;
};

class PosixReadableFile final : public ReadableFile {
 public:
  PosixReadableFile(std::string path, Stream file, uint64_t size)
      : path_(std::move(path)), file_(std::move(file)), size_(size) {}

  uint64_t size() const override { return size_; }

  Result<std::string> Read(uint64_t offset, uint64_t size) const override {
    std::string bytes(static_cast<size_t>(size), '\0');
    const bool is_read = ::fseeko(file_.get(), static_cast<off_t>(offset), SEEK_SET) == 0 &&
                         std::fread(bytes.data(), 1, bytes.size(), file_.get()) == bytes.size();
    if (is_read) return bytes;
    return std::ferror(file_.get()) != 0 ? IoError("read", path_, errno)
                                         : Status::Corruption(path_ + " is too short");
  }

 private:
  const std::string path_;
  const Stream file_;
  const uint64_t size_;
};

class PosixEnv final : public Env {
 public:
  Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path) override {
    Stream file = OpenStream(path, "wbe");
    if (file == nullptr) return IoError("create", path, errno);
    return std::unique_ptr<WritableFile>(
        std::make_unique<PosixWritableFile>(path, std::move(file)));
  }

  Result<std::unique_ptr<ReadableFile>> OpenFile(const std::string& path) override {
    Stream file = OpenStream(path, "rbe");
    if (file == nullptr) return IoError("open", path, errno);
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(path, error);
    if (error) return IoError("open", path, error.value());
    return std::unique_ptr<ReadableFile>(
        std::make_unique<PosixReadableFile>(path, std::move(file), size));
  }

  Result<std::vector<std::string>> List(const std::string& directory) override {
    std::error_code error;
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
      names.push_back(entry.path().filename());
    }
    if (error) return IoError("list", directory, error.value());
    return names;
  }

  Status CreateDirectory(const std::string& directory) override {
    const bool exists = ::mkdir(directory.c_str(), 0755) == 0 || errno == EEXIST;
    // Synced even if it exists: its creator may have been killed before.
    return exists ? SyncDirectory(directory + "/..") : IoError("create", directory, errno);
  }

  Status Rename(const std::string& from, const std::string& to) override {
    return OkIf(::rename(from.c_str(), to.c_str()) == 0, "rename", from);
  }
  Status Remove(const std::string& path) override {
    return OkIf(::unlink(path.c_str()) == 0, "remove", path);
  }
  Status SyncDirectory(const std::string& directory) override {
    const Stream opened = OpenStream(directory, "re");
    return OkIf(opened != nullptr && ::fsync(::fileno(opened.get())) == 0, "sync", directory);
  }
};

}  // namespace

Env* Env::Posix() {
  static PosixEnv env;
  return &env;
}

}  // namespace blocksieve::toylsm
