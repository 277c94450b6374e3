#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <memory>
#include <string>
#include <vector>

// What the command and the sieve may change on the disk.

namespace blocksieve::files {

/// A directory whose files may change.
struct WritableDirectory {
  std::string path;
  bool only_sidecars = false;  ///< Whether only sidecars of skip indexes may change.
};

/// The file system that RocksDB gets from them. Every call that changes a file outside of
/// the writable directories fails, so that no option of a database, known or unknown, makes
/// them change another database. Reading is not restricted. Thread-safe.
///
/// A directory is writable by device and inode, without those below it, except the archive of its
/// WAL. Symbolic links are resolved, and a file with several hard links is never opened for
/// writing: a copy made with cp -al shares its last WAL with the original, and RocksDB truncates
/// it. It guards against options, not against processes that change links at the same time.
class GuardedFileSystem : public rocksdb::FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;

  /// The files outside of the writable directories that were not changed.
  virtual std::vector<std::string> refused() const = 0;
};

/// `kept_options`: the directory of a database whose OPTIONS files stay as they are; "" for none.
/// RocksDB writes one whenever it opens a database, without the objects that this program lacks,
/// and deletes older ones. Here it may write the temporary file, which goes when it is renamed.
/// Refusing that would keep RocksDB 10.3 and later from opening the database.
std::shared_ptr<GuardedFileSystem> NewGuardedFileSystem(
    const std::vector<WritableDirectory>& writable, const std::string& kept_options = "");

/// An environment that changes only files in this directory, for the command's own files.
std::unique_ptr<rocksdb::Env> EnvOfDirectory(const std::string& path);

/// Creates a directory that the command line names, and those above it.
rocksdb::IOStatus CreateNamedDirectory(const std::string& path);

/// A logger that writes the file LOG of a database like RocksDB's own; the previous file becomes
/// LOG.old. On a full disk it drops the line. RocksDB's own logger ends the process at the next
/// line if RocksDB was built with assertions, as Debian's is. Thread-safe.
std::shared_ptr<rocksdb::Logger> NewFullDiskLog(const std::string& database);

}  // namespace blocksieve::files
