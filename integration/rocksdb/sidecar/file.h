#pragma once

#include <rocksdb/file_system.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/status.h>
#include <rocksdb/table_properties.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/skip_index.h"
#include "integration/rocksdb/sidecar/format.h"
#include "lib/skip/skip_index_source.h"

namespace blocksieve::rocksdb_plugin {

/// Where an SST is, and its sidecar beside it.
struct SstPlace {
  std::shared_ptr<rocksdb::FileSystem> file_system;
  std::string path;                                    ///< Of the SST.
  std::shared_ptr<rocksdb::RateLimiter> rate_limiter;  ///< Of the database; null: none.
};

/// Writes and syncs the sidecar of `sst`, and puts it in the place of one that may be there. The
/// directory is synced by whoever makes the SST visible. Whatever fails, no sidecar is left.
/// `*reference` is what the SST's properties are to say. Errors: those of the file system.
rocksdb::Status WriteSidecar(const SstPlace& sst, const SidecarHeader& header,
                             std::string_view index, std::string* reference);

/// The index in a sidecar that was found to be that of an SST. Not thread-safe.
class SidecarFile final : public SkipIndexSource {
 public:
  /// Opens the sidecar of `sst` if it is the one that `properties` name, or was made from an SST
  /// with these properties. Null otherwise; then `*problem` says why, and `*is_missing` whether
  /// there is no such file. Either may be null.
  static std::unique_ptr<SidecarFile> Open(const SstPlace& sst,
                                           const rocksdb::TableProperties& properties,
                                           std::string* problem = nullptr,
                                           bool* is_missing = nullptr);

  /// Opens one, whichever SST it belongs to.
  static std::unique_ptr<SidecarFile> OpenAny(rocksdb::FileSystem* file_system,
                                              const std::string& path,
                                              std::string* problem = nullptr,
                                              bool* is_missing = nullptr);

  /// Whether it belongs to the SST of these properties.
  bool IsOf(const rocksdb::TableProperties& properties) const;

  const SidecarHeader& header() const { return header_; }

  uint64_t num_bytes() const override { return header_.index_bytes; }
  Status Read(uint64_t offset, std::span<uint8_t> to) override;

 private:
  SidecarFile() = default;

  std::unique_ptr<rocksdb::FSRandomAccessFile> file_;
  SidecarHeader header_;
  uint32_t checksum_ = 0;  // of the header
  uint64_t index_offset_ = 0;
};

/// The property by which an SST names its sidecar, with a SidecarReference.
inline constexpr char kSidecarProperty[] = "blocksieve.granules.file";

/// Makes `to` the same file as `from`, or a copy where the file system has no links. Replaces one
/// that may be there.
rocksdb::Status LinkOrCopySidecar(rocksdb::FileSystem* file_system, const std::string& from,
                                  const std::string& to);

/// Deletes the sidecar of `sst`, if there is one.
void DeleteSidecar(rocksdb::FileSystem* file_system, std::string_view sst_path);

}  // namespace blocksieve::rocksdb_plugin
