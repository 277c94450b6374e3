// SPDX-License-Identifier: Apache-2.0
#include "integration/files/files.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "lib/base/errors.h"

namespace blocksieve::files {
namespace {

namespace fs = std::filesystem;

constexpr const char* kElsewhere =
    "not changed, as this command changes only files of the database's own directory, or of one "
    "that an option names";
constexpr const char* kKeepsOptions =
    "not written, as this command keeps the OPTIONS files of a database";
constexpr std::string_view kTemporary = ".dbtmp";  // RocksDB's files before they are renamed
constexpr const char* kIsShared =
    "not changed, as it has other hard links, through which another database may use it";

std::optional<struct stat> ReadStat(const fs::path& path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0) return std::nullopt;
  return found;
}

std::optional<std::pair<uint64_t, uint64_t>> ReadInode(const fs::path& path) {
  const auto found = ReadStat(path);
  if (!found) return std::nullopt;
  return std::pair<uint64_t, uint64_t>{found->st_dev, found->st_ino};
}

fs::path ParentOf(const std::string& path) {
  fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent;
}

bool IsLink(const fs::path& path) {
  std::error_code error;
  return fs::is_symlink(fs::symlink_status(path, error));
}

bool HasOtherLinks(const std::string& path) {
  const auto found = ReadStat(path);
  return found && S_ISREG(found->st_mode) && found->st_nlink > 1;
}

// The result of the change if it is allowed.
template <class Change>
rocksdb::IOStatus If(rocksdb::IOStatus allowed, const Change& change) {
  return allowed.ok() ? change() : allowed;
}

bool IsSidecarName(std::string_view name) {
  return name.ends_with(".bsx") || name.ends_with(".bsx.tmp");
}

class Guard final : public GuardedFileSystem {
 public:
  Guard(const std::vector<WritableDirectory>& writable, const std::string& kept_options)
      : GuardedFileSystem(rocksdb::FileSystem::Default()), kept_options_(kept_options) {
    for (const WritableDirectory& directory : writable) {
      Allow(directory.path, directory.only_sidecars);
      const fs::path archive = fs::path(directory.path) / "archive";
      if (!directory.only_sidecars && !IsLink(archive)) Allow(archive, false);
    }
  }

  const char* Name() const override { return "blocksieve.guarded_file_system"; }

  std::vector<std::string> refused() const override {
    const std::lock_guard lock(mutex_);
    return refused_;
  }

  using Status = rocksdb::IOStatus;
  using File = rocksdb::FileOptions;
  using Io = rocksdb::IOOptions;
  using Debug = rocksdb::IODebugContext;
  Status NewWritableFile(const std::string& path, const File& options,
                         std::unique_ptr<rocksdb::FSWritableFile>* file, Debug* debug) override {
    // The old contents go, but only under this name.
    if (!IsLink(path) && HasOtherLinks(path)) {
      BLOCKSIEVE_RETURN_IF_ERROR(DeleteFile(path, Io(), debug));
    }
    return If(CheckContents(path),
              [&] { return target()->NewWritableFile(path, options, file, debug); });
  }

  Status ReopenWritableFile(const std::string& path, const File& options,
                            std::unique_ptr<rocksdb::FSWritableFile>* file, Debug* debug) override {
    return If(CheckContents(path),
              [&] { return target()->ReopenWritableFile(path, options, file, debug); });
  }

  Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                           const File& options, std::unique_ptr<rocksdb::FSWritableFile>* file,
                           Debug* debug) override {
    return If(If(CheckName(path), [&] { return CheckContents(old_path); }),
              [&] { return target()->ReuseWritableFile(path, old_path, options, file, debug); });
  }

  Status NewRandomRWFile(const std::string& path, const File& options,
                         std::unique_ptr<rocksdb::FSRandomRWFile>* file, Debug* debug) override {
    return If(CheckContents(path),
              [&] { return target()->NewRandomRWFile(path, options, file, debug); });
  }

  Status NewMemoryMappedFileBuffer(
      const std::string& path, std::unique_ptr<rocksdb::MemoryMappedFileBuffer>* file) override {
    return If(CheckContents(path), [&] { return target()->NewMemoryMappedFileBuffer(path, file); });
  }

  Status DeleteFile(const std::string& path, const Io& options, Debug* debug) override {
    if (IsKeptOptions(path)) return Status::OK();  // RocksDB would log an error
    return If(CheckName(path), [&] { return target()->DeleteFile(path, options, debug); });
  }

  Status Truncate(const std::string& path, size_t size, const Io& options, Debug* debug) override {
    return If(CheckContents(path), [&] { return target()->Truncate(path, size, options, debug); });
  }

  Status CreateDir(const std::string& path, const Io& options, Debug* debug) override {
    Status status = If(CheckName(path), [&] { return target()->CreateDir(path, options, debug); });
    if (status.ok()) Allow(path, false);
    return status;
  }

  Status CreateDirIfMissing(const std::string& path, const Io& options, Debug* debug) override {
    const auto found = ReadStat(path);
    return found && S_ISDIR(found->st_mode) ? Status::OK() : CreateDir(path, options, debug);
  }

  Status DeleteDir(const std::string& path, const Io& options, Debug* debug) override {
    return If(CheckName(path), [&] { return target()->DeleteDir(path, options, debug); });
  }

  Status RenameFile(const std::string& from, const std::string& to, const Io& options,
                    Debug* debug) override {
    if (IsKeptOptions(to) && from.ends_with(kTemporary)) return DeleteFile(from, options, debug);
    return If(If(CheckName(from), [&] { return CheckName(to); }),
              [&] { return target()->RenameFile(from, to, options, debug); });
  }

  Status LinkFile(const std::string& from, const std::string& to, const Io& options,
                  Debug* debug) override {
    return If(CheckName(to), [&] { return target()->LinkFile(from, to, options, debug); });
  }

  // A lock file has no contents, so it may have other hard links: the database is then in use.
  Status LockFile(const std::string& path, const Io& options, rocksdb::FileLock** lock,
                  Debug* debug) override {
    return If(IsLink(path) ? CheckContents(path) : CheckName(path),
              [&] { return target()->LockFile(path, options, lock, debug); });
  }

  // Creates a directory.
  Status GetTestDirectory(const Io&, std::string* path, Debug*) override { return Refuse(*path); }

  Status NewLogger(const std::string& path, const Io& options,
                   std::shared_ptr<rocksdb::Logger>* logger, Debug* debug) override {
    return If(CheckContents(path),
              [&] { return target()->NewLogger(path, options, logger, debug); });
  }

 private:
  using Inode = std::pair<uint64_t, uint64_t>;  // device and number

  void Allow(const std::string& path, bool only_sidecars) {
    const auto inode = ReadInode(path);
    const std::lock_guard lock(mutex_);
    if (inode) writable_[*inode] = only_sidecars;
  }

  bool IsKeptOptions(const std::string& path) const {
    return !kept_options_.empty() && !path.ends_with(kTemporary) &&
           fs::path(path).filename().string().starts_with("OPTIONS-") &&
           ReadInode(ParentOf(path)) == ReadInode(kept_options_);
  }

  // OK if the name may be created, deleted or replaced.
  Status CheckName(const std::string& path) {
    if (IsKeptOptions(path)) return Status::NotSupported(path, kKeepsOptions);
    const auto parent = ReadInode(ParentOf(path));
    const std::string name = fs::path(path).filename();
    // A name such as ".." would act on another directory.
    if (!parent || name.empty() || name == "." || name == "..") return Refuse(path);
    {
      const std::lock_guard lock(mutex_);
      const auto found = writable_.find(*parent);
      const bool is_allowed = found != writable_.end() && (!found->second || IsSidecarName(name));
      if (is_allowed) return Status::OK();
    }
    return Refuse(path);
  }

  // OK if the contents of the file may change; it may be a link.
  Status CheckContents(const std::string& path) {
    std::string file = path;
    if (IsLink(path)) {
      std::error_code error;
      file = fs::canonical(path, error);
      if (error) return Refuse(path);
    }
    Status status = CheckName(file);
    // RocksDB opens a database whose last WAL it cannot shorten.
    return status.ok() && HasOtherLinks(file) ? Status::IOError(path, kIsShared) : status;
  }

  Status Refuse(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (std::find(refused_.begin(), refused_.end(), path) == refused_.end())
      refused_.push_back(path);
    return Status::IOError(path, kElsewhere);
  }

  const std::string kept_options_;
  mutable std::mutex mutex_;
  std::map<Inode, bool> writable_;  // directories; true: only sidecars in them
  std::vector<std::string> refused_;
};

}  // namespace

std::shared_ptr<GuardedFileSystem> NewGuardedFileSystem(
    const std::vector<WritableDirectory>& writable, const std::string& kept_options) {
  return std::make_shared<Guard>(writable, kept_options);
}

std::unique_ptr<rocksdb::Env> EnvOfDirectory(const std::string& path) {
  return rocksdb::NewCompositeEnv(NewGuardedFileSystem({{path}}));
}

rocksdb::IOStatus CreateNamedDirectory(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? rocksdb::IOStatus::IOError(path, error.message()) : rocksdb::IOStatus::OK();
}

}  // namespace blocksieve::files
