#pragma once

#include <rocksdb/table_properties.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/bytes.h"

// A sidecar is a file beside an SST, 000012.bsx beside 000012.sst, that has the SST's skip index:
//   header | identity | index
// integration/rocksdb/FORMAT.md is the normative description.

namespace blocksieve::rocksdb_plugin {

/// Tells sidecars apart; no two are equal.
using SidecarId = std::array<uint64_t, 2>;

/// How a sidecar came to be.
enum class SidecarOrigin : uint8_t {
  kWritten = 0,  ///< With its SST, whose properties name it by a random id.
  kRebuilt = 1,  ///< From its SST, later. The id is that of the SST.
};

/// Which versions of its rows the index knows.
enum class SidecarCoverage : uint8_t {
  kAllVersions = 0,
  kNewestVersions = 1,  ///< Scans of older snapshots must read the SST as a whole.
};

struct SidecarHeader {
  SidecarOrigin origin = SidecarOrigin::kWritten;
  SidecarCoverage coverage = SidecarCoverage::kAllVersions;
  SidecarId id{};
  uint32_t value_suffix_bytes = 0;  ///< As in SkipIndexOptions.
  uint64_t index_bytes = 0;
  std::string identity;  ///< Of rebuilt ones: IdentityText of the options.
};

inline constexpr size_t kSidecarHeaderBytes = 48;

/// With the identity.
std::string EncodeSidecarHeader(const SidecarHeader& header);

/// Reads `start`, the front of a file of `file_bytes`. Nothing if it is damaged, foreign, of
/// another version, or not of that length. `*needed_bytes` is how much of the file a complete
/// header takes, so that it can be tried again with more; `*checksum` becomes that of the header.
std::optional<SidecarHeader> DecodeSidecarHeader(ByteView start, uint64_t file_bytes,
                                                 uint64_t* needed_bytes, uint32_t* checksum);

/// 32 hexadecimal digits.
std::string ToHex(const SidecarId& id);

/// How an SST's properties name its sidecar: by its id, its length, and the checksum of its header,
/// which has the id. The index and its parts have their own.
std::string SidecarReference(const SidecarId& id, uint64_t file_bytes, uint32_t checksum);

/// The digits of the id in a reference.
std::string_view IdInReference(std::string_view reference);

inline constexpr std::string_view kSstSuffix = ".sst";
inline constexpr std::string_view kSidecarSuffix = ".bsx";
inline constexpr std::string_view kTemporarySuffix =
    ".tmp";  ///< After the other, while it is written.

/// "/a/b/000012.sst": "/a/b/000012.bsx"
std::string SidecarPath(std::string_view sst_path);

/// "000012.bsx": "000012", if that is a number; else "".
std::string_view NumberInName(std::string_view name, std::string_view suffix);

/// A random one.
SidecarId NewSidecarId();

/// Of an SST, from its properties. Nothing for files that do not tell who wrote them.
std::optional<SidecarId> IdOfSst(const rocksdb::TableProperties& properties);

}  // namespace blocksieve::rocksdb_plugin
