#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace blocksieve::rocksdb_plugin {

/// A directory whose files may change.
struct WritableDirectory {
  std::string path;
  bool only_sidecars = false;  ///< Whether only sidecars of skip indexes may change.
};

/// The file system that RocksDB gets from the command. Every call that changes a file outside of
/// the writable directories fails, so that no option of a database, known or unknown, makes the
/// command change another database. Reading is not restricted. Thread-safe.
///
/// A directory is writable by device and inode, without those below it, except the archive of its
/// WAL. Symbolic links are resolved, and a file with several hard links is never opened for
/// writing: a copy made with cp -al shares its last WAL with the original, and RocksDB truncates
/// it. It guards against options, not against processes that change links at the same time.
class GuardedFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  /// `kept_options`: the directory of a database whose OPTIONS files stay as they are; "" for none.
  /// RocksDB writes one whenever it opens a database, without the objects that this program lacks.
  /// Here it writes them to memory, and deletes none.
  explicit GuardedFileSystem(std::vector<WritableDirectory> writable,
                             const std::string& kept_options = "");

  const char* Name() const override { return "blocksieve.guarded_file_system"; }

  /// The files outside of the writable directories that were not changed.
  std::vector<std::string> refused() const;

  using Status = rocksdb::IOStatus;
  using File = rocksdb::FileOptions;
  using Io = rocksdb::IOOptions;
  using Debug = rocksdb::IODebugContext;
  Status NewSequentialFile(const std::string& path, const File& options,
                           std::unique_ptr<rocksdb::FSSequentialFile>* file, Debug* debug) override;
  Status NewRandomAccessFile(const std::string& path, const File& options,
                             std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                             Debug* debug) override;
  Status FileExists(const std::string& path, const Io& options, Debug* debug) override;
  Status GetFileSize(const std::string& path, const Io& options, uint64_t* size,
                     Debug* debug) override;
  Status NewWritableFile(const std::string& path, const File& options,
                         std::unique_ptr<rocksdb::FSWritableFile>* file, Debug* debug) override;
  Status ReopenWritableFile(const std::string& path, const File& options,
                            std::unique_ptr<rocksdb::FSWritableFile>* file, Debug* debug) override;
  Status ReuseWritableFile(const std::string& path, const std::string& old_path,
                           const File& options, std::unique_ptr<rocksdb::FSWritableFile>* file,
                           Debug* debug) override;
  Status NewRandomRWFile(const std::string& path, const File& options,
                         std::unique_ptr<rocksdb::FSRandomRWFile>* file, Debug* debug) override;
  Status NewMemoryMappedFileBuffer(const std::string& path,
                                   std::unique_ptr<rocksdb::MemoryMappedFileBuffer>* file) override;
  Status DeleteFile(const std::string& path, const Io& options, Debug* debug) override;
  Status Truncate(const std::string& path, size_t size, const Io& options, Debug* debug) override;
  Status CreateDir(const std::string& path, const Io& options, Debug* debug) override;
  Status CreateDirIfMissing(const std::string& path, const Io& options, Debug* debug) override;
  Status DeleteDir(const std::string& path, const Io& options, Debug* debug) override;
  Status RenameFile(const std::string& from, const std::string& to, const Io& options,
                    Debug* debug) override;
  Status LinkFile(const std::string& from, const std::string& to, const Io& options,
                  Debug* debug) override;
  Status LockFile(const std::string& path, const Io& options, rocksdb::FileLock** lock,
                  Debug* debug) override;
  Status GetTestDirectory(const Io& options, std::string* path, Debug* debug) override;
  Status NewLogger(const std::string& path, const Io& options,
                   std::shared_ptr<rocksdb::Logger>* logger, Debug* debug) override;

 private:
  using Inode = std::pair<uint64_t, uint64_t>;  // device and number
  struct Writable {
    Inode inode;
    bool only_sidecars = false;
  };

  void Allow(const std::string& path, bool only_sidecars);
  bool IsKeptOptions(const std::string& path) const;
  rocksdb::FileSystem& PlaceOf(const std::string& path);

  // OK if the name may be created, deleted or replaced.
  Status CheckName(const std::string& path);
  // OK if the contents of the file may change; it may be a link.
  Status CheckContents(const std::string& path);
  Status Refuse(const std::string& path);

  const std::shared_ptr<rocksdb::FileSystem> memory_;  // for OPTIONS files
  std::string kept_options_;
  mutable std::mutex mutex_;
  std::vector<Writable> writable_;
  std::vector<std::string> refused_;
};

/// An environment that changes only files in this directory, for the command's own files.
std::unique_ptr<rocksdb::Env> EnvOfDirectory(const std::string& path);

/// Creates a directory that the command line names, and those above it.
rocksdb::IOStatus CreateNamedDirectory(const std::string& path);

}  // namespace blocksieve::rocksdb_plugin
