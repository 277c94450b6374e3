#include "integration/cli/rocksdb/table_layout.h"

#include "lib/base/coding.h"

namespace blocksieve::cli {
namespace {

constexpr uint64_t kMagic = 0x88e241b785f4cff7;
constexpr uint64_t kLegacyMagic = 0xdb4775248b80fb57;  // format version 0
constexpr uint64_t kPlainTableMagic = 0x8242229663bf9564;
constexpr uint64_t kLegacyPlainTableMagic = 0x4f3418eb7a8f13b8;
constexpr uint64_t kCuckooTableMagic = 0x926789d0c5f17873;

constexpr size_t kMagicBytes = 8;
// Keys are stored as differences, so a hostile block could hold far more of them than it has bytes.
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

}  // namespace blocksieve::cli
