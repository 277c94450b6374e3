#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/bytes.h"
#include "integration/toylsm/sst/builder.h"

namespace blocksieve::toylsm {

/// Which files are the database. Written anew with every change and put in place by a rename, so
/// there is always exactly one. A log of changes would be shorter to write and longer to read.
struct Manifest {
  uint64_t next_file_number = 1;
  uint64_t log_number = 0;
  std::vector<FileInfo> files;

  std::string Encode() const;
  /// Errors: Corruption.
  static Result<Manifest> Decode(ByteView bytes);

  /// Survives a power loss when this returns, and so do all names in the directory. After an error
  /// either the old manifest or this one is in place.
  Status Write(Env* env, const std::string& directory) const;
};

inline constexpr char kManifestName[] = "MANIFEST";
inline constexpr char kLogSuffix[] = ".log";
inline constexpr char kSstSuffix[] = ".sst";

/// The path of a log or an SST. Each number is used once only.
std::string FilePath(const std::string& directory, uint64_t number, const char* suffix);

}  // namespace blocksieve::toylsm
