#include "integration/cli/rocksdb/table_layout.h"

#include <xxhash.h>

#include <array>
#include <cassert>

#include "lib/base/coding.h"

namespace blocksieve::cli {
namespace {

constexpr uint64_t kMagic = 0x88e241b785f4cff7;
constexpr uint64_t kLegacyMagic = 0xdb4775248b80fb57;  // format version 0
constexpr uint64_t kPlainTableMagic = 0x8242229663bf9564;
constexpr uint64_t kLegacyPlainTableMagic = 0x4f3418eb7a8f13b8;
constexpr uint64_t kCuckooTableMagic = 0x926789d0c5f17873;

constexpr size_t kMagicBytes = 8;
// Keys are stored as differences, so those of a hostile block may be far longer than the block.
constexpr uint64_t kMaxKeyBytes = uint64_t{1} << 28;

constexpr size_t kHandlesBytes = 40;  // two handles, each of two varints of up to 10 bytes

uint64_t MagicOf(ByteView end) {
  return end.size() < kMagicBytes
             ? 0
             : LoadLittleEndian<uint64_t>(end.data() + end.size() - kMagicBytes);
}

BlockHandle ReadHandle(Decoder* decoder) {
  BlockHandle handle;
  handle.offset = decoder->Varint();
  handle.size = decoder->Varint();
  return handle;
}

int64_t ReadZigZag(Decoder* decoder) {
  const uint64_t value = decoder->Varint();
  return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
}

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

// As LevelDB and RocksDB store it: rotated and shifted, so that checksums of checksums do no harm.
uint32_t MaskedCrc32c(ByteView bytes) {
  static constexpr std::array<uint32_t, 256> kTable = MakeCrc32cTable();
  uint32_t crc = 0xffffffff;
  for (const uint8_t byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ byte) & 0xff];
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8;
}

// Of all bytes but the last, which RocksDB mixes in separately.
uint32_t Xxh3(ByteView bytes) {
  constexpr uint32_t kRandomPrime = 0x6b9083d9;
  const auto hash = static_cast<uint32_t>(XXH3_64bits(bytes.data(), bytes.size() - 1));
  return hash ^ (bytes.back() * kRandomPrime);
}

}  // namespace

bool IsTable(ByteView end) {
  const uint64_t magic = MagicOf(end);
  return IsBlockBasedTable(end) || magic == kPlainTableMagic || magic == kLegacyPlainTableMagic ||
         magic == kCuckooTableMagic;
}

bool IsBlockBasedTable(ByteView end) {
  const uint64_t magic = MagicOf(end);
  return magic == kMagic || magic == kLegacyMagic;
}

Result<TableFooter> DecodeTableFooter(ByteView end) {
  const uint64_t magic = MagicOf(end);
  TableFooter footer;
  if (magic == kLegacyMagic && end.size() >= kHandlesBytes + kMagicBytes) {
    Decoder decoder(end.last(kHandlesBytes + kMagicBytes));
    footer.metaindex = ReadHandle(&decoder);
    if (decoder.ok()) return footer;
  } else if (magic == kMagic && end.size() >= TableFooter::kMaxBytes) {
    const ByteView bytes = end.last(TableFooter::kMaxBytes);
    const auto version =
        LoadLittleEndian<uint32_t>(bytes.data() + bytes.size() - kMagicBytes - sizeof(uint32_t));
    if (version > TableFooter::kMaxFormatVersion) {
      return Status::NotSupported("a table of format version " + std::to_string(version) +
                                  "; up to " + std::to_string(TableFooter::kMaxFormatVersion) +
                                  " are read");
    }
    Decoder decoder(bytes);
    footer.checksum_type = decoder.Fixed<uint8_t>();
    footer.metaindex = ReadHandle(&decoder);
    if (decoder.ok()) return footer;
  }
  return Status::Corruption("the footer of the table");
}

Result<std::vector<std::pair<std::string, BlockHandle>>> DecodeHandles(ByteView block,
                                                                       bool values_are_deltas) {
  const Status damaged = Status::Corruption("a block of handles");
  // Entries, the offsets of some of them, and the number of these.
  if (block.size() < sizeof(uint32_t)) return damaged;
  const auto num_restarts =
      LoadLittleEndian<uint32_t>(block.data() + block.size() - sizeof(uint32_t));
  const uint64_t restart_bytes = (uint64_t{num_restarts} + 1) * sizeof(uint32_t);
  if (restart_bytes > block.size()) return damaged;

  std::vector<std::pair<std::string, BlockHandle>> handles;
  Decoder decoder(block.first(block.size() - static_cast<size_t>(restart_bytes)));
  std::string key;
  BlockHandle handle;
  uint64_t key_bytes = 0;
  while (!decoder.rest().empty()) {
    const uint64_t shared = decoder.Varint();  // with the key before
    const uint64_t unshared = decoder.Varint();
    const uint64_t value_bytes = values_are_deltas ? 0 : decoder.Varint();
    if (!decoder.ok() || shared > key.size()) return damaged;
    key.resize(static_cast<size_t>(shared));
    key += AsText(decoder.Bytes(unshared));
    key_bytes += key.size();
    if (key_bytes > kMaxKeyBytes) return damaged;
    if (!values_are_deltas) {
      Decoder value(decoder.Bytes(value_bytes));
      handle = ReadHandle(&value);
      if (!value.ok()) return damaged;
    } else if (shared == 0) {
      handle = ReadHandle(&decoder);
    } else {
      handle.offset += handle.size + kBlockTrailerBytes;
      handle.size += static_cast<uint64_t>(ReadZigZag(&decoder));
    }
    if (!decoder.ok()) return damaged;
    handles.emplace_back(key, handle);
  }
  return handles;
}

Status CheckBlock(uint8_t checksum_type, ByteView block_and_type, uint32_t checksum) {
  assert(!block_and_type.empty());
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
