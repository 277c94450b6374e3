// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <vector>

#include "integration/cli/database/table/table_file.h"
#include "integration/rocksdb/compat/user_index.h"
#include "lib/base/coding.h"

// The table's last block but the footer lists its meta blocks:
//   entries, each: varints shared, unshared, value_size; unshared bytes of the name; the value
//   fixed32 offset of each restart; fixed32 their number; the trailer: compression, checksum
// The footer, 48 bytes before format version 1 and 53 since, has its place.

namespace blocksieve::cli {
namespace {

constexpr const char* kAny = "any";

bool IsKnown(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {
      "rocksdb.properties", "rocksdb.compression_dict", "rocksdb.range_del",
      "rocksdb.hashindex.prefixes", "rocksdb.hashindex.metadata"};
  std::vector<std::string_view> prefixes = {"filter.", "fullfilter.", "partitionedfilter."};
#if ROCKSDB_MAJOR >= 9  // files of format version 6 name it
  prefixes.push_back("rocksdb.index");
#endif
  if (BLOCKSIEVE_HAS_USER_INDEX != 0) prefixes.push_back("rocksdb.user_defined_index.");
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(prefixes, [&](auto prefix) { return name.starts_with(prefix); });
}

// The block of names with its compression byte; empty if it cannot be found.
std::string ReadMetaIndex(const std::string& path) {
  constexpr uint64_t kFooterBytes = 53;
  constexpr uint64_t kLegacyFooterBytes = 48;
  constexpr uint64_t kLegacyMagic = 0xdb4775248b80fb57;
  constexpr uint64_t kTrailerBytes = 5;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto num_bytes = static_cast<uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  const auto read = [&](uint64_t offset, uint64_t size) {
    std::string bytes;
    if (offset > num_bytes || size > num_bytes - offset) return bytes;
    bytes.resize(static_cast<size_t>(size));
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(bytes.data(), static_cast<std::streamsize>(size));
    return bytes;
  };
  if (num_bytes < kFooterBytes) return "";
  const std::string footer = read(num_bytes - kFooterBytes, kFooterBytes);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(footer.data());
  const bool is_legacy = LoadLittleEndian<uint64_t>(bytes + kFooterBytes - 8) == kLegacyMagic;
  if (!is_legacy && LoadLittleEndian<uint32_t>(bytes + kFooterBytes - 12) >= 6) {
    const uint64_t size = LoadLittleEndian<uint32_t>(bytes + 13) + uint64_t{1};
    return read(num_bytes - kFooterBytes - kTrailerBytes + 1 - size, size);
  }
  Decoder handle(AsBytes(footer).subspan(is_legacy ? kFooterBytes - kLegacyFooterBytes : 1));
  const uint64_t offset = handle.Varint();
  return read(offset, std::min(handle.Varint(), num_bytes) + 1);
}

}  // namespace

std::string UnknownMetaBlocks(const std::string& path) {
  const std::string block = ReadMetaIndex(path);
  if (block.size() <= sizeof(uint32_t) || block.back() != 0) return kAny;  // missing or compressed
  const ByteView contents = AsBytes(block).first(block.size() - 1);
  const size_t before_count = contents.size() - sizeof(uint32_t);
  const uint64_t restart_bytes =
      uint64_t{LoadLittleEndian<uint32_t>(contents.data() + before_count)} * sizeof(uint32_t);
  if (restart_bytes > before_count) return kAny;
  Decoder entries(contents.first(before_count - static_cast<size_t>(restart_bytes)));
  std::vector<std::string> unknown;
  std::string name;
  while (!entries.rest().empty()) {
    const uint64_t shared = entries.Varint();
    const uint64_t unshared = entries.Varint();
    const uint64_t value_size = entries.Varint();
    const ByteView rest = entries.Bytes(unshared);
    entries.Bytes(value_size);
    if (!entries.ok() || shared > name.size()) return kAny;
    name.resize(static_cast<size_t>(shared));
    name.append(reinterpret_cast<const char*>(rest.data()), rest.size());
    if (!IsKnown(name)) unknown.push_back(name);
  }
  return fmt::format("{}", fmt::join(unknown, ", "));
}

}  // namespace blocksieve::cli
