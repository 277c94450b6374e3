#include "integration/rocksdb/sidecar/format.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <random>

#include "lib/base/checksum.h"
#include "lib/base/coding.h"

namespace blocksieve::rocksdb_plugin {
namespace {

constexpr std::array<uint8_t, 4> kMagic = {0xb5, 's', 'i', 'd'};
constexpr uint8_t kVersion = 1;
constexpr size_t kChecksumAt = kSidecarHeaderBytes - sizeof(uint32_t);

// The checksum of the header without the checksum field.
uint32_t ChecksumOf(ByteView header) {
  std::string rest(AsText(header.first(kChecksumAt)));
  rest += AsText(header.subspan(kSidecarHeaderBytes));
  return Checksum(AsBytes(rest));
}

constexpr std::string_view kReferenceStart = "id=";

}  // namespace

std::string EncodeSidecarHeader(const SidecarHeader& header) {
  std::string out(kMagic.begin(), kMagic.end());
  out.push_back(static_cast<char>(kVersion));
  out.push_back(static_cast<char>(header.is_rebuilt));
  out.push_back(static_cast<char>(header.has_newest_versions_only));
  out.push_back(0);
  for (const uint64_t half : header.id) AppendLittleEndian(&out, half);
  AppendLittleEndian(&out, header.value_suffix_bytes);
  AppendLittleEndian(&out, static_cast<uint32_t>(header.identity.size()));
  AppendLittleEndian(&out, header.index_bytes);
  AppendLittleEndian(&out, uint32_t{0});
  out.resize(kSidecarHeaderBytes);
  out += header.identity;
  StoreLittleEndian(reinterpret_cast<uint8_t*>(out.data()) + kChecksumAt, ChecksumOf(AsBytes(out)));
  return out;
}

std::optional<SidecarHeader> DecodeSidecarHeader(ByteView start, uint64_t file_bytes,
                                                 uint64_t* needed_bytes, uint32_t* checksum) {
  *needed_bytes = kSidecarHeaderBytes;
  Decoder from(start);
  for (const uint8_t byte : kMagic) {
    if (from.Fixed<uint8_t>() != byte) return std::nullopt;
  }
  if (from.Fixed<uint8_t>() != kVersion) return std::nullopt;
  SidecarHeader header;
  const auto origin = from.Fixed<uint8_t>();
  const auto coverage = from.Fixed<uint8_t>();
  const auto zero = from.Fixed<uint8_t>();
  for (uint64_t& half : header.id) half = from.Fixed<uint64_t>();
  header.value_suffix_bytes = from.Fixed<uint32_t>();
  const auto identity_bytes = from.Fixed<uint32_t>();
  header.index_bytes = from.Fixed<uint64_t>();
  const auto more_zeros = from.Fixed<uint32_t>();
  *checksum = from.Fixed<uint32_t>();
  if (!from.ok()) return std::nullopt;
  *needed_bytes = kSidecarHeaderBytes + identity_bytes;
  header.identity = AsText(from.Bytes(identity_bytes));
  if (!from.ok() || *checksum != ChecksumOf(start.first(static_cast<size_t>(*needed_bytes))) ||
      file_bytes < *needed_bytes || file_bytes - *needed_bytes != header.index_bytes ||
      origin > 1 || coverage > 1 || zero != 0 || more_zeros != 0) {
    return std::nullopt;
  }
  header.is_rebuilt = origin != 0;
  header.has_newest_versions_only = coverage != 0;
  return header;
}

std::string ToHex(const SidecarId& id) {
  char digits[33];
  std::snprintf(digits, sizeof(digits), "%016" PRIx64 "%016" PRIx64, id[0], id[1]);
  return digits;
}

std::string SidecarReference(const SidecarId& id, uint64_t file_bytes, uint32_t checksum) {
  char digits[9];
  std::snprintf(digits, sizeof(digits), "%08" PRIx32, checksum);
  return std::string(kReferenceStart) + ToHex(id) + " bytes=" + std::to_string(file_bytes) +
         " checksum=" + digits;
}

std::string_view IdInReference(std::string_view reference) {
  if (!reference.starts_with(kReferenceStart)) return {};
  return reference.substr(kReferenceStart.size(), 2 * sizeof(SidecarId));
}

std::string SidecarPath(std::string_view sst_path) {
  return std::filesystem::path(sst_path).replace_extension(kSidecarSuffix).string();
}

std::string_view NumberInName(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return {};
  name.remove_suffix(suffix.size());
  const bool is_number =
      std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? name : std::string_view();
}

SidecarId NewSidecarId() {
  std::random_device random;
  SidecarId id;
  for (uint64_t& half : id) half = uint64_t{random()} << 32 | random();
  return id;
}

std::optional<SidecarId> IdOfSst(const rocksdb::TableProperties& properties) {
  if (properties.db_session_id.empty() || properties.orig_file_number == 0) return std::nullopt;
  std::string facts = properties.db_id + '\n' + properties.db_session_id + '\n';
  for (const uint64_t fact :
       {properties.orig_file_number, properties.num_entries, properties.raw_key_size,
        properties.raw_value_size, properties.data_size, properties.num_data_blocks,
        properties.creation_time}) {
    AppendLittleEndian(&facts, fact);
  }
  return SidecarId{WideChecksum(AsBytes(facts), 0), WideChecksum(AsBytes(facts), 1)};
}

}  // namespace blocksieve::rocksdb_plugin
