#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/status.h"

// The engine's interface to the file system, which tests replace to inject faults. Failures of the
// file system are ResourceExhausted, with the operation, the file and the system's reason.
// Corruption is reserved for bytes that were read and are wrong.

namespace blocksieve::toylsm {

/// A file that is written sequentially.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  /// After an error the file may have a part of `data`.
  virtual Status Append(std::string_view data) = 0;
  /// Appended data survives a power loss if the file's name does: see Env::SyncDirectory.
  virtual Status Sync() = 0;
};

/// A finished file. Stays readable when its name is removed.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;

  virtual uint64_t size() const = 0;
  /// Reads exactly `size` bytes from `offset`. Errors: Corruption if the file is too short.
  virtual Result<std::string> Read(uint64_t offset, uint64_t size) const = 0;
};

/// Paths are "directory/name".
class Env {
 public:
  virtual ~Env() = default;

  /// The files of the operating system.
  static Env* Posix();

  /// Truncates an existing file.
  virtual Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path) = 0;
  virtual Result<std::unique_ptr<ReadableFile>> OpenFile(const std::string& path) = 0;

  /// Names of the files in a directory.
  virtual Result<std::vector<std::string>> List(const std::string& directory) = 0;
  /// Does nothing if it exists. The directory's own name then survives a power loss.
  virtual Status CreateDirectory(const std::string& directory) = 0;
  /// Atomic; replaces an existing file.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;
  /// The current names in the directory then survive a power loss.
  virtual Status SyncDirectory(const std::string& directory) = 0;
};

/// Reads a whole file.
Result<std::string> ReadWhole(Env* env, const std::string& path);

/// "write /db/000012.sst: No space left on device"
Status IoError(std::string_view operation, const std::string& path, int error_number);

}  // namespace blocksieve::toylsm
