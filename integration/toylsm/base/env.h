#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"

// All that the engine wants from a file system. A failure of it is ResourceExhausted ("not now"),
// with the operation, the file and the system's reason; Corruption is kept for bytes that were
// read and are wrong.

namespace blocksieve::toylsm {

/// A file that is being written, from its beginning.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  /// After an error the file may hold a part of `data`.
  virtual Status Append(std::string_view data) = 0;

  /// What was appended survives a power loss, if the file's name does: see Env::SyncDirectory.
  virtual Status Sync() = 0;
};

/// A file that no longer changes. Thread-safe. Stays readable when its name is removed.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;

  virtual uint64_t size() const = 0;

  /// Fills the front of `buffer` with the bytes from `offset` on; returns how many. May return
  /// fewer than asked for; returns 0 at the end of the file only.
  virtual Result<size_t> Read(uint64_t offset, std::span<uint8_t> buffer) const = 0;
};

/// Held while it lives.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

/// Paths are "directory/name". Thread-safe.
class Env {
 public:
  virtual ~Env() = default;

  /// The files of the operating system.
  static Env* Posix();

  /// Empty; one that exists is emptied.
  virtual Result<std::unique_ptr<WritableFile>> NewWritableFile(const std::string& path) = 0;
  virtual Result<std::unique_ptr<ReadableFile>> OpenFile(const std::string& path) = 0;

  virtual Result<bool> Exists(const std::string& path) = 0;
  /// Names of the files in a directory.
  virtual Result<std::vector<std::string>> List(const std::string& directory) = 0;

  /// One that exists already is fine. Its own name lasts when this returns.
  virtual Status CreateDirectory(const std::string& directory) = 0;
  /// Atomic; replaces a file of the new name.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status Remove(const std::string& path) = 0;

  /// Names in the directory, as they are now, survive a power loss.
  virtual Status SyncDirectory(const std::string& directory) = 0;

  /// Fails if another process, or this one, has it.
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path) = 0;
};

/// `size` bytes from `offset`, in as many reads as it takes. Corruption if the file ends before.
Result<std::string> ReadExactly(const ReadableFile& file, uint64_t offset, uint64_t size);

/// All of a file.
Result<std::string> ReadWhole(Env* env, const std::string& path);

/// "write /db/000012.sst: No space left on device"
Status IoError(std::string_view operation, const std::string& path, int error_number);

}  // namespace blocksieve::toylsm
