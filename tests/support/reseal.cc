#include "tests/support/reseal.h"

#include "blocksieve/filter.h"
#include "lib/base/coding.h"
#include "lib/block/filter_info.h"
#include "lib/block/short_block.h"
#include "lib/hash/checksum.h"

namespace blocksieve::testing {
namespace {

// The parts of a block of version 2 or 4, whose fields begin at `fields_at`, as far as they are
// readable.
void ResealParts(uint8_t version, size_t fields_at, std::string* block) {
  Decoder fields(AsBytes(*block).subspan(fields_at));
  const uint64_t filter_bytes = fields.Varint();
  if (version == kPrefixFormatVersion) static_cast<void>(fields.Varint());  // prefix part
  static_cast<void>(fields.Varint());                                       // range part
  if (!fields.ok() || filter_bytes > fields_at || fields.rest().size() < sizeof(uint32_t)) return;
  const size_t checksum_at = block->size() - fields.rest().size();
  const auto ranges_at = static_cast<size_t>(filter_bytes);
  const std::optional<std::string> points = ResealFilterBlock(AsBytes(*block).first(ranges_at));
  if (points) block->replace(0, ranges_at, *points);
  StoreLittleEndian(reinterpret_cast<uint8_t*>(block->data()) + checksum_at,
                    Checksum(AsBytes(*block).subspan(ranges_at, fields_at - ranges_at)));
}

std::string ResealShort(ByteView block) {
  std::string sealed(AsText(block));
  const size_t checksum_at = block.size() - kZeroTailBytes - 3;
  const uint32_t checksum = Checksum(block.first(checksum_at));
  for (size_t i = 0; i < 3; ++i) sealed[checksum_at + i] = static_cast<char>(checksum >> 8 * i);
  return sealed;
}

}  // namespace

std::optional<std::string> ResealFilterBlock(ByteView block) {
  if (internal::LooksShort(block)) return ResealShort(block);
  constexpr size_t kAfterFields = 3;  // length of the fields, version, magic
  constexpr size_t kChecksum = 4;
  if (block.size() < kAfterFields + kChecksum + kZeroTailBytes) return std::nullopt;
  const size_t checksum_at = block.size() - kZeroTailBytes - kChecksum;
  const size_t covered = block[checksum_at - kAfterFields] + kAfterFields;
  if (covered > checksum_at) return std::nullopt;
  std::string sealed(AsText(block));
  auto* const bytes = reinterpret_cast<uint8_t*>(sealed.data());
  const size_t payload = checksum_at - covered;
  const uint8_t version = block[checksum_at - kAfterFields + 1];
  if (version == kRangeFormatVersion || version == kPrefixFormatVersion) {
    ResealParts(version, payload, &sealed);
    StoreLittleEndian(bytes + checksum_at, Checksum({bytes + payload, covered}));
    return sealed;
  }
  Decoder fields(block.subspan(payload, covered - kAfterFields));
  static_cast<void>(fields.Fixed<uint8_t>());  // kind and flags
  static_cast<void>(fields.Varint());          // keys
  const bool is_whole = fields.Varint() == payload;
  const size_t payload_checksum_at = checksum_at - kAfterFields - fields.rest().size();
  if (fields.ok() && is_whole && fields.rest().size() >= kChecksum) {
    StoreLittleEndian(bytes + payload_checksum_at, Checksum(block.first(payload)));
  }
  StoreLittleEndian(bytes + checksum_at, Checksum({bytes + payload, covered}));
  return sealed;
}

std::optional<std::string> ResealSkipIndex(ByteView index) {
  constexpr size_t kBeforeFields = 9;  // magic, version, length of the fields
  constexpr size_t kChecksum = 4;
  if (index.size() < kBeforeFields + kChecksum) return std::nullopt;
  const size_t field_bytes = LoadLittleEndian<uint32_t>(index.data() + 5);
  if (field_bytes > index.size() - kBeforeFields - kChecksum) return std::nullopt;
  std::string sealed(AsText(index));
  StoreLittleEndian(reinterpret_cast<uint8_t*>(sealed.data()) + kBeforeFields + field_bytes,
                    Checksum(index.first(kBeforeFields + field_bytes)));
  size_t header_bytes = 0;
  Result<internal::SkipIndexHeader> header =
      internal::DecodeSkipIndexHeader(AsBytes(sealed), sealed.size(), &header_bytes);
  if (!header.ok()) return sealed;  // Open reports it
  return SealSkipIndex(*std::move(header), AsBytes(sealed).subspan(header_bytes));
}

std::string SealSkipIndex(internal::SkipIndexHeader header, ByteView parts) {
  Decoder decoder(parts);
  header.granules_checksum = Checksum(decoder.Bytes(header.granules_bytes));
  for (internal::ColumnHeader& column : header.columns) {
    column.checksum = Checksum(decoder.Bytes(column.num_bytes()));
  }
  return internal::EncodeSkipIndexHeader(header).append(AsText(parts));
}

}  // namespace blocksieve::testing
