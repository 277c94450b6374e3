#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "blocksieve/bloom.h"
#include "blocksieve/filter.h"
#include "lib/base/checksum.h"
#include "lib/base/coding.h"
#include "lib/bits/packed.h"
#include "lib/block/footer.h"
#include "lib/skip/format.h"
#include "tests/core/filter/test_filters.h"
#include "tests/core/format/written_block.h"
#include "tests/core/skip/test_index.h"
#include "tests/support/reseal.h"

// Contradictory blocks with correct checksums, in ways that no change of a single byte finds.

namespace blocksieve::testing {
namespace {

void ExpectUnreadable(const std::string& filter) {
  EXPECT_FALSE(WrittenFilters().front()->Opens(AsBytes(filter)));
  EXPECT_FALSE(Filter::Verify(AsBytes(filter)).ok());
}

// An empty filter answers "no" to every key, so the empty flag counts only with a known kind.
TEST(HostileFilterTest, EmptyOnesOfUnknownKindsMayMatch) {
  for (const FilterKind empty_kind : BuildableKinds()) {
    const std::string empty = Copy(BuildBlock(empty_kind, 0.01, 0));
    for (int kind = 0; kind < 16; ++kind) {
      SCOPED_TRACE(kind);
      std::string changed = empty;
      changed[0] = static_cast<char>((changed[0] & 0xf0) | kind);
      const bool is_known = kind <= static_cast<int>(FilterKind::kRibbon);
      if (!is_known) ExpectUnreadable(ResealFilterBlock(AsBytes(changed)).value());
    }
  }
}

TEST(HostileFilterTest, AnEmptyOneHasNoPayload) {
  for (const FilterKind kind : BuildableKinds()) {
    OwnedBytes block;
    block.size = 1 + internal::kMaxFooterBytes;
    block.memory = std::make_unique<char[]>(block.size);
    internal::FinishBlock({.kind = kind, .points_bytes = 1}, {}, {}, &block);
    ExpectUnreadable(Copy(block));
  }
}

// Set bits after the last would be counted as keys.
TEST(HostileContainerTest, BitsAfterTheLastAreRefused) {
  std::string bytes = Serialized(*ClassicBloom::Create(*BloomLayout::ForBits(203, 5)));
  bytes[bytes.size() - 5] = static_cast<char>(0x80);  // bit 207
  bytes = WrittenContainers().front()->Reseal(AsBytes(bytes)).value();
  const Status status = ClassicBloom::Deserialize(AsBytes(bytes)).status();
  EXPECT_EQ(status.message(), "Bloom filter: bits are set after the last of 203 cells");
}

struct Decoded {
  internal::SkipIndexHeader header;
  ByteView parts;
};

Decoded Decode(const std::string& index) {
  size_t header_bytes = 0;
  internal::SkipIndexHeader header =
      *internal::DecodeSkipIndexHeader(AsBytes(index), index.size(), &header_bytes);
  return {std::move(header), AsBytes(index).subspan(header_bytes)};
}

std::string EmptyIndex(bool has_keys) {
  SkipIndexBuilder builder =
      MakeIndexBuilder(IndexOptions(3, {TypedColumn(ValueType::kUint)}), has_keys);
  return Must(builder.Finish()).bytes;
}

TEST(HostileIndexTest, RowsWithoutGranulesAreAnError) {
  const std::string empty = EmptyIndex(true);
  for (const uint64_t num_rows : {0, 1}) {
    Decoded decoded = Decode(empty);
    decoded.header.num_rows = num_rows;
    const std::string sealed = SealSkipIndex(std::move(decoded.header), decoded.parts);
    EXPECT_EQ(SkipIndex::Open(AsBytes(sealed)).ok(), num_rows == 0);
  }
}

// Two bytes can encode the rows of any number of granules. Only keys, or bits, confirm it.
TEST(HostileIndexTest, GranulesThatTakeNoBytesAreNotBelieved) {
  for (const bool has_keys : {true, false}) {
    const std::string empty = EmptyIndex(has_keys);
    for (const uint64_t num_granules : {uint64_t{1} << 20, uint64_t{1} << 60, ~uint64_t{0}}) {
      Decoded decoded = Decode(empty);
      decoded.header.num_granules = num_granules;
      const std::string sealed = SealSkipIndex(std::move(decoded.header), decoded.parts);
      EXPECT_EQ(SkipIndex::Open(AsBytes(sealed)).status().code(), StatusCode::kCorruption);
    }
  }
}

TEST(HostileIndexTest, NumbersThatWrapAreNoBits) {
  std::string bytes;
  AppendVarint(&bytes, UINT64_MAX);  // and a number of one bit above it
  bytes += "\x01\x01";
  Decoder decoder(AsBytes(bytes));
  EXPECT_FALSE(internal::PackedInts::Read(2, &decoder).IsBits());
  EXPECT_TRUE(decoder.ok());
}

}  // namespace
}  // namespace blocksieve::testing
