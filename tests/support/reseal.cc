// SPDX-License-Identifier: Apache-2.0
#include "tests/support/reseal.h"

#include "blocksieve/filter.h"
#include "lib/base/coding.h"
#include "lib/block/footer.h"

namespace blocksieve::testing {
namespace {

constexpr size_t kTagBytes = 1 + kZeroTailBytes;

uint8_t* MutableBytes(std::string* block) { return reinterpret_cast<uint8_t*>(block->data()); }

void ResealShort(uint8_t tag, std::string* block) {
  const size_t checksum_at = block->size() - kTagBytes - 3;
  const uint64_t checksum = WideChecksum(AsBytes(*block).first(checksum_at), tag);
  for (size_t i = 0; i < 3; ++i) (*block)[checksum_at + i] = static_cast<char>(checksum >> 8 * i);
}

void ResealFooter(uint8_t tag, size_t checksum_at, size_t covered, std::string* block) {
  StoreLittleEndian(MutableBytes(block) + checksum_at,
                    static_cast<uint32_t>(WideChecksum(
                        AsBytes(*block).subspan(checksum_at - covered, covered), tag)));
}

// The checksums in the fields. REQUIRES: the footer is sound
void ResealSections(const internal::Footer& footer, size_t fields_at, std::string* block) {
  Decoder fields(AsBytes(*block).subspan(fields_at));
  const auto reseal = [&](ByteView section) {
    const size_t at = block->size() - fields.rest().size();
    StoreLittleEndian(MutableBytes(block) + at, Checksum(section));
    static_cast<void>(fields.Fixed<uint32_t>());
  };
  static_cast<void>(fields.Fixed<uint8_t>());
  static_cast<void>(fields.Varint());
  reseal(footer.points);
  for (const ByteView section : {footer.prefixes, footer.ranges}) {
    if (section.empty()) continue;
    static_cast<void>(fields.Varint());
    reseal(section);
  }
}

}  // namespace

std::optional<std::string> ResealFilterBlock(ByteView block) {
  constexpr size_t kChecksum = 4;
  if (block.size() < kTagBytes + kChecksum + 1) return std::nullopt;
  std::string sealed(AsText(block));
  const uint8_t tag = block[block.size() - kTagBytes];
  if ((tag & 0xf8) == 0xb8) {
    ResealShort(tag, &sealed);
    return sealed;
  }
  const size_t checksum_at = block.size() - kTagBytes - kChecksum;
  const size_t covered = block[checksum_at - 1] + size_t{1};
  if (covered > checksum_at) return std::nullopt;
  ResealFooter(tag, checksum_at, covered, &sealed);
  internal::Footer footer;
  if (!internal::ParseFooter(AsBytes(sealed), &footer) && !footer.is_empty()) {
    ResealSections(footer, checksum_at - covered, &sealed);
    ResealFooter(tag, checksum_at, covered, &sealed);
  }
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
