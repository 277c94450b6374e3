#pragma once

#include <rocksdb/file_system.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/status.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "blocksieve/skip_index.h"
#include "integration/rocksdb/sidecar/format.h"

namespace blocksieve::rocksdb_plugin {

/// Where an SST and its sidecar are.
struct SstPlace {
  std::shared_ptr<rocksdb::FileSystem> file_system;
  std::string path;                                    ///< Path of the SST.
  std::shared_ptr<rocksdb::RateLimiter> rate_limiter;  ///< Null: none.
};

/// Writes and syncs the sidecar of `sst`, and replaces an existing one. The directory is synced
/// with the SST. On failure, no sidecar is left. `*reference` becomes the SST's kSidecarProperty.
/// Errors: those of the file system.
rocksdb::Status WriteSidecar(const SstPlace& sst, const SidecarHeader& header,
                             std::string_view index, std::string* reference);

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

  /// Whether it belongs to the SST with these properties.
  bool BelongsTo(const rocksdb::TableProperties& properties) const;

  const SidecarHeader& header() const { return header_; }

  uint64_t num_bytes() const override { return header_.index_bytes; }
  Status Read(uint64_t offset, std::span<uint8_t> to) override;

 private:
  SidecarFile() = default;

  std::unique_ptr<rocksdb::FSRandomAccessFile> file_;
  SidecarHeader header_;
  uint32_t checksum_ = 0;  // the header's
  uint64_t index_offset_ = 0;
};

/// Table property in which an SST names its sidecar with a SidecarReference.
inline constexpr char kSidecarProperty[] = "blocksieve.granules.file";

/// False if it does not exist, or that cannot be told.
bool FileExists(rocksdb::FileSystem* file_system, const std::string& path);

/// Links `to` to `from`, or copies it if the file system cannot link. Replaces an existing file.
rocksdb::Status LinkOrCopySidecar(rocksdb::FileSystem* file_system, const std::string& from,
                                  const std::string& to);

/// Deletes the sidecar of an SST, if it exists.
void DeleteSidecar(rocksdb::FileSystem* file_system, std::string_view sst_path);

}  // namespace blocksieve::rocksdb_plugin
