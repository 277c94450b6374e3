#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/bytes.h"
#include "integration/toylsm/base/entry.h"
#include "integration/toylsm/sst/builder.h"

namespace blocksieve::toylsm {

/// Which files are the database. Written anew with every change of them and put in place by a
/// rename, so there is always exactly one. A log of changes would be shorter to write, but longer
/// to read: here both are a page of code.
struct Manifest {
  uint64_t next_file_number = 1;
  Sequence last_sequence = 0;  ///< of what is in files; the log begins after it
  uint64_t log_number = 0;
  std::vector<FileInfo> files;

  std::string Encode() const;
  /// Errors: Corruption, NotSupported (a newer version).
  static Result<Manifest> Decode(ByteView bytes);

  /// Lasts when this returns, and so do all names in the directory. After an error either the old
  /// manifest or this one is in place.
  Status Write(Env* env, const std::string& directory) const;
};

/// Names of files. Each number is used once only.
std::string ManifestPath(const std::string& directory);
/// Until it is put in place.
std::string TemporaryManifestPath(const std::string& directory);
std::string LogPath(const std::string& directory, uint64_t number);
std::string SstPath(const std::string& directory, uint64_t number);

/// Whether a log, or an SST, may have that name. Files of other names are somebody else's.
bool IsLogName(std::string_view name);
bool IsSstName(std::string_view name);

}  // namespace blocksieve::toylsm
