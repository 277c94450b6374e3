#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <vector>

#include "blocksieve/bytes.h"
#include "integration/toylsm/sst/builder.h"

namespace blocksieve::toylsm {

/// The files of the database. Each change writes a new manifest and renames it over the old one, so
/// there is always exactly one. Rejected: a log of changes, faster to write and slower to read.
struct Manifest {
  uint64_t next_file_number = 1;
  uint64_t log_number = 0;
  std::vector<FileInfo> files;

  std::string Encode() const;
  /// Errors: Corruption.
  static Result<Manifest> Decode(ByteView bytes);

  /// When this returns, the manifest and all names in the directory survive a power loss. After an
  /// error, the old or the new manifest is in place.
  Status Write(Env* env, const std::string& directory) const;
};

inline constexpr char kManifestName[] = "MANIFEST";
inline constexpr char kLogSuffix[] = ".log";
inline constexpr char kSstSuffix[] = ".sst";

/// The path of a log or an SST. Numbers are never reused.
std::string FilePath(const std::string& directory, uint64_t number, const char* suffix);

}  // namespace blocksieve::toylsm
