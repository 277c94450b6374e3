#include "integration/toylsm/base/env.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace blocksieve::toylsm {

Result<std::string> ReadExactly(const ReadableFile& file, uint64_t offset, uint64_t size) {
  // Before memory is allocated: sizes come from files, and may be damaged.
  if (offset > file.size() || size > file.size() - offset) {
    return Status::Corruption("file of " + std::to_string(file.size()) + " bytes ends before " +
                              std::to_string(offset) + " + " + std::to_string(size));
  }
  std::string bytes(static_cast<size_t>(size), '\0');
  const std::span<uint8_t> buffer(reinterpret_cast<uint8_t*>(bytes.data()), bytes.size());
  for (size_t done = 0; done < buffer.size();) {
    const Result<size_t> read = file.Read(offset + done, buffer.subspan(done));
    if (!read.ok()) return read.status();
    if (*read == 0) return Status::Corruption("file has become shorter");
    done += *read;
  }
  return bytes;
}

Result<std::string> ReadWhole(Env* env, const std::string& path) {
  const Result<std::unique_ptr<ReadableFile>> file = env->OpenFile(path);
  if (!file.ok()) return file.status();
  return ReadExactly(**file, 0, (*file)->size());
}

Status IoError(std::string_view operation, const std::string& path, int error_number) {
  return Status::ResourceExhausted(std::string(operation) + " " + path + ": " +
                                   std::generic_category().message(error_number));
}

namespace {

// Closing it, also by a kill, gives its lock back, if it has one.
class Descriptor final : public FileLock {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() override {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  bool ok() const { return number_ >= 0; }

 private:
  const int number_;
};

int OpenFlags(const std::string& path, int flags) {
  return ::open(path.c_str(), flags | O_CLOEXEC, 0644);
}

class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(std::string path, int number) : path_(std::move(path)), file_(number) {}

  // Unbuffered: what was acknowledged is with the operating system, and survives a kill.
  Status Append(std::string_view data) override {
    while (!data.empty()) {
      const ssize_t written = ::write(file_.number(), data.data(), data.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return IoError("write", path_, errno);
      data.remove_prefix(static_cast<size_t>(written));
    }
    return Status::Ok();
  }

  Status Sync() override {
    return ::fdatasync(file_.number()) == 0 ? Status::Ok() : IoError("sync", path_, errno);
  }

 private:
  const std::string path_;
  const Descriptor file_;
};

class PosixReadableFile final : public ReadableFile {
 public:
  PosixReadableFile(std::string path, int number, uint64_t size)
      : path_(std::move(path)), file_(number), size_(size) {}

  uint64_t size() const override { return size_; }

  Result<size_t> Read(uint64_t offset, std::span<uint8_t> buffer) const override {
    for (;;) {
      const ssize_t read =
          ::pread(file_.number(), buffer.data(), buffer.size(), static_cast<off_t>(offset));
      if (read >= 0) return static_cast<size_t>(read);
      if (errno != EINTR) return IoError("read", path_, errno);
    }
  }

 private:
  const std::string path_;
  const Descriptor file_;
  const uint64_t size_;
};

class PosixEnv final : public Env {
 public:
  Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path) override {
    const int number = OpenFlags(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (number < 0) return IoError("create", path, errno);
    return std::unique_ptr<WritableFile>(std::make_unique<PosixWritableFile>(path, number));
  }

  Result<std::unique_ptr<ReadableFile>> OpenFile(const std::string& path) override {
    const int number = OpenFlags(path, O_RDONLY);
    if (number < 0) return IoError("open", path, errno);
    struct stat about {};
    if (::fstat(number, &about) != 0) {
      const int error_number = errno;
      ::close(number);
      return IoError("stat", path, error_number);
    }
    return std::unique_ptr<ReadableFile>(
        std::make_unique<PosixReadableFile>(path, number, static_cast<uint64_t>(about.st_size)));
  }

  Result<bool> Exists(const std::string& path) override {
    std::error_code error;
    const bool exists = std::filesystem::exists(path, error);
    if (error) return IoError("look for", path, error.value());
    return exists;
  }

  Result<std::vector<std::string>> List(const std::string& directory) override {
    std::error_code error;
    std::vector<std::string> names;
    std::filesystem::directory_iterator entry(directory, error);
    for (; !error && entry != std::filesystem::end(entry); entry.increment(error)) {
      names.push_back(entry->path().filename());
    }
    if (error) return IoError("list", directory, error.value());
    return names;
  }

  Status CreateDirectory(const std::string& directory) override {
    std::error_code error;
    std::filesystem::create_directory(directory, error);
    if (error) return IoError("create", directory, error.value());
    // Also if it was there: who made it may have been stopped before it was synced.
    return SyncDirectory(directory + "/..");
  }

  Status Rename(const std::string& from, const std::string& to) override {
    return ::rename(from.c_str(), to.c_str()) == 0 ? Status::Ok() : IoError("rename", from, errno);
  }

  Status Remove(const std::string& path) override {
    return ::unlink(path.c_str()) == 0 ? Status::Ok() : IoError("remove", path, errno);
  }

  Status SyncDirectory(const std::string& directory) override {
    const Descriptor opened(OpenFlags(directory, O_RDONLY | O_DIRECTORY));
    if (!opened.ok()) return IoError("open", directory, errno);
    return ::fsync(opened.number()) == 0 ? Status::Ok() : IoError("sync", directory, errno);
  }

  Result<std::unique_ptr<FileLock>> Lock(const std::string& path) override {
    auto lock = std::make_unique<Descriptor>(OpenFlags(path, O_RDWR | O_CREAT));
    if (!lock->ok()) return IoError("open", path, errno);
    if (::flock(lock->number(), LOCK_EX | LOCK_NB) != 0) return IoError("lock", path, errno);
    return std::unique_ptr<FileLock>(std::move(lock));
  }
};

}  // namespace

Env* Env::Posix() {
  static PosixEnv env;
  return &env;
}

}  // namespace blocksieve::toylsm
