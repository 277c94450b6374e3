#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/file_system.h>
#include <rocksdb/status.h>
#include <rocksdb/table_properties.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/skip_index.h"

// A sidecar, such as 000012.bsx, holds the skip index of the SST beside it, 000012.sst:
//   header | identity | index
// integration/rocksdb/FORMAT.md is the normative description.

namespace blocksieve::rocksdb_plugin {

/// Unique id of a sidecar.
using SidecarId = std::array<uint64_t, 2>;

struct SidecarHeader {
  /// Made from its SST later; its id is the SST's (IdOfSst). Otherwise written with its SST, whose
  /// properties name its random id.
  bool is_rebuilt = false;
  SidecarId id{};
  uint32_t value_suffix_bytes = 0;  ///< As in SkipIndexOptions.
  uint64_t index_bytes = 0;
  std::string identity;  ///< IdentityText of the options; only if is_rebuilt.
};

inline constexpr size_t kSidecarHeaderBytes = 48;

/// Encodes the header and the identity.
std::string EncodeSidecarHeader(const SidecarHeader& header);

/// Decodes the header in `start`, the first bytes of a file of `file_bytes`. Nothing if it is
/// damaged, foreign, of another version or for another file size. `*needed_bytes` becomes the size
/// with the identity, for a second try with more bytes.
std::optional<SidecarHeader> DecodeSidecarHeader(ByteView start, uint64_t file_bytes,
                                                 uint64_t* needed_bytes);

/// Table property in which an SST names its sidecar by the digits of its id.
inline constexpr char kSidecarProperty[] = "blocksieve.granules.file";

/// The id as 32 hexadecimal digits.
std::string ToHex(const SidecarId& id);

inline constexpr std::string_view kSidecarSuffix = ".bsx";
/// Follows kSidecarSuffix while the file is written.
inline constexpr std::string_view kTemporarySuffix = ".tmp";

/// "/a/b/000012.sst": "/a/b/000012.bsx"
std::string SidecarPath(std::string_view sst_path);

/// A random id.
SidecarId NewSidecarId();

/// The id of an SST's rebuilt sidecar, from the SST's properties. Nothing if they lack the session
/// or file number of the writer.
std::optional<SidecarId> IdOfSst(const rocksdb::TableProperties& properties);

/// Where an SST and its sidecar are.
struct SstPlace {
  std::shared_ptr<rocksdb::FileSystem> file_system;
  std::string path;  ///< Path of the SST.
};

/// Writes and syncs the sidecar of `sst`, and replaces an existing one. The directory is synced
/// with the SST. On failure, no sidecar is left. Errors: those of the file system.
rocksdb::Status WriteSidecar(const SstPlace& sst, const SidecarHeader& header,
                             std::string_view index);

/// An open sidecar and the index in it. Not thread-safe.
class SidecarFile final : public SkipIndexSource {
 public:
  /// Opens the sidecar of `sst` if `properties` name it, or if it was rebuilt from an SST with
  /// these properties. Otherwise returns null, with the reason in `*problem`, and in `*is_missing`
  /// whether the file is missing. Either may be null.
  static std::unique_ptr<SidecarFile> Open(const SstPlace& sst,
                                           const rocksdb::TableProperties& properties,
                                           std::string* problem = nullptr,
                                           bool* is_missing = nullptr);

  /// Opens a sidecar, whichever SST it belongs to.
  static std::unique_ptr<SidecarFile> OpenAny(rocksdb::FileSystem* file_system,
                                              const std::string& path,
                                              std::string* problem = nullptr,
                                              bool* is_missing = nullptr);

  const SidecarHeader& header() const { return header_; }

  uint64_t num_bytes() const override { return header_.index_bytes; }
  Status Read(uint64_t offset, std::span<uint8_t> to) override;

 private:
  SidecarFile() = default;

  std::unique_ptr<rocksdb::FSRandomAccessFile> file_;
  SidecarHeader header_;
  uint64_t index_offset_ = 0;
};

/// Links `to` to `from`, or copies it if the file system cannot link. Replaces an existing file.
rocksdb::Status LinkOrCopySidecar(rocksdb::FileSystem* file_system, const std::string& from,
                                  const std::string& to);

/// Deletes the sidecar of an SST, if it exists.
void DeleteSidecar(rocksdb::FileSystem* file_system, std::string_view sst_path);

}  // namespace blocksieve::rocksdb_plugin
