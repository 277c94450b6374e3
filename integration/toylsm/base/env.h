#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/status.h"

// What the engine needs of a file system, so that tests can bring their own, which fails. Failures
// of the file system are ResourceExhausted, with the operation, the file and the system's reason.
// Corruption is kept for bytes that were read and are wrong.

namespace blocksieve::toylsm {

/// A file that is written from its beginning.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  /// After an error the file may hold a part of `data`.
  virtual Status Append(std::string_view data) = 0;
  /// What was appended survives a power loss, if the file's name does: see Env::SyncDirectory.
  virtual Status Sync() = 0;
};

/// A finished file. Stays readable when its name is removed.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;

  virtual uint64_t size() const = 0;
  /// All of `size` bytes from `offset`. Errors: Corruption if the file ends before.
  virtual Result<std::string> Read(uint64_t offset, uint64_t size) const = 0;
};

/// Paths are "directory/name".
class Env {
 public:
  virtual ~Env() = default;

  /// The files of the operating system.
  static Env* Posix();

  /// Empties a file that exists.
  virtual Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path) = 0;
  virtual Result<std::unique_ptr<ReadableFile>> OpenFile(const std::string& path) = 0;

  /// Names of the files in a directory.
  virtual Result<std::vector<std::string>> List(const std::string& directory) = 0;
  /// Does nothing if it exists. The directory's own name survives a power loss.
  virtual Status CreateDirectory(const std::string& directory) = 0;
  /// Atomic; replaces a file of the new name.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;
  /// The names in the directory, as they are now, survive a power loss.
  virtual Status SyncDirectory(const std::string& directory) = 0;
};

/// All of a file.
Result<std::string> ReadWhole(Env* env, const std::string& path);

/// "write /db/000012.sst: No space left on device"
Status IoError(std::string_view operation, const std::string& path, int error_number);

}  // namespace blocksieve::toylsm
