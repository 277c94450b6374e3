#include <xxhash.h>

#include <array>

#include "integration/cli/rocksdb/table_layout.h"

namespace blocksieve::cli {
namespace {

// Values of rocksdb::ChecksumType, as they are in files.
enum ChecksumType : uint8_t { kNone = 0, kCrc32c = 1, kXxHash = 2, kXxHash64 = 3, kXxh3 = 4 };

constexpr std::array<uint32_t, 256> MakeCrc32cTable() {
  constexpr uint32_t kPolynomial = 0x82f63b78;  // Castagnoli's, reflected
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[byte] = crc;
  }
  return table;
}

// As LevelDB and RocksDB store it: rotated and shifted, so that checksums of checksums are no
// trouble.
uint32_t MaskedCrc32c(ByteView bytes) {
  static constexpr std::array<uint32_t, 256> kTable = MakeCrc32cTable();
  uint32_t crc = 0xffffffff;
  for (const uint8_t byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ byte) & 0xff];
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
}

// Of all but the last byte, which RocksDB mixes in by itself.
uint32_t Xxh3(ByteView bytes) {
  constexpr uint32_t kRandomPrime = 0x6b9083d9;
  const auto hash = static_cast<uint32_t>(XXH3_64bits(bytes.data(), bytes.size() - 1));
  return hash ^ (bytes.back() * kRandomPrime);
}

}  // namespace

Status CheckBlock(uint8_t checksum_type, ByteView block_and_type, uint32_t checksum) {
  uint32_t expected = 0;
  switch (checksum_type) {
    case kNone:
      return Status::Ok();
    case kCrc32c:
      expected = MaskedCrc32c(block_and_type);
      break;
    case kXxHash:
      expected = XXH32(block_and_type.data(), block_and_type.size(), 0);
      break;
    case kXxHash64:
      expected = static_cast<uint32_t>(XXH64(block_and_type.data(), block_and_type.size(), 0));
      break;
    case kXxh3:
      expected = Xxh3(block_and_type);
      break;
    default:
      return Status::NotSupported("blocks with a checksum of type " +
                                  std::to_string(checksum_type));
  }
  return checksum == expected ? Status::Ok() : Status::Corruption("the checksum of a block");
}

}  // namespace blocksieve::cli
