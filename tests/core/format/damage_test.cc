// SPDX-License-Identifier: Apache-2.0
#include "tests/support/damage.h"

#include "lib/base/coding.h"
#include "lib/bits/packed.h"
#include "lib/block/footer.h"
#include "tests/core/filter/test_filters.h"
#include "tests/core/format/written_block.h"
#include "tests/core/skip/test_index.h"
#include "tests/support/reseal.h"

// pitfalls 13 to 15: checksums detect damage, and unreadable blocks answer "may match". Damage with
// corrected checksums is not detected, but causes no read out of bounds (run this under a
// sanitizer), and all kernels give the same answers.
//
// The complete tests take minutes, with BLOCKSIEVE_LONG_TESTS only. Otherwise every bit is flipped
// in small blocks and one bit of every byte in others, the payload of large blocks is sampled, and
// only small blocks get every value of every field.

namespace blocksieve::testing {
namespace {

constexpr size_t kSmallBytes = 3 << 10;
constexpr size_t kLargeBytes = 16 << 10;
constexpr size_t kSampled = 2000;  // places in the payload of a large block

class DamagedBlockTest : public ::testing::TestWithParam<WrittenBlockPtr> {
 protected:
  const WrittenBlock& block() const { return *GetParam(); }
  ByteView bytes() const { return AsBytes(bytes_); }
  bool IsSmall() const { return bytes_.size() <= kSmallBytes; }
  bool IsLarge() const { return bytes_.size() > kLargeBytes; }

  // Whether the short test skips this place.
  bool IsLeftOut(size_t at) const {
    return IsLarge() && !LongTests() && at < unchecked_ && at % (unchecked_ / kSampled + 1) != 0;
  }

  void ExpectRefused(ByteView damaged, StatusCode code = StatusCode::kCorruption) const {
    ASSERT_FALSE(block().Opens(damaged));
    ASSERT_EQ(block().Verify(damaged).code(), code);
  }

  // Whether it still opens.
  bool ExpectHarmless(ByteView resealed) const {
    const std::vector<uint8_t> exact = ExactCopy(resealed);
    const bool opens = block().ExpectHarmless(exact);
    if (opens) block().UseAll(exact);
    return opens;
  }

  const std::string bytes_ = GetParam()->Bytes();
  const size_t unchecked_ = GetParam()->UncheckedBytes(AsBytes(bytes_));
};

INSTANTIATE_TEST_SUITE_P(Blocks, DamagedBlockTest, ::testing::ValuesIn(AllWrittenBlocks()),
                         NameOfBlock);

TEST_P(DamagedBlockTest, IsSoundWithoutDamage) {
  EXPECT_TRUE(block().Verify(bytes()).ok());
  EXPECT_TRUE(ExpectHarmless(bytes()));
  EXPECT_EQ(block().Reseal(bytes()), AsText(bytes())) << "its checksums were right";
}

TEST_P(DamagedBlockTest, EveryTruncationIsNoticed) {
  for (size_t length = 0; length < bytes().size() && !HasFailure(); ++length) {
    if (IsLeftOut(length)) continue;
    SCOPED_TRACE(length);
    ExpectRefused(ExactCopy(bytes().first(length)));
    ExpectRefused(ExactCopy(bytes().last(length)));
  }
}

TEST_P(DamagedBlockTest, EveryFlippedBitIsNoticed) {
  uint64_t num_denied = 0;
  const auto masks_of = [&](size_t at) {
    if (IsLeftOut(at)) return Masks{};
    return IsSmall() || LongTests() ? EveryBit() : Masks{static_cast<uint8_t>(1 << at % 8)};
  };
  ForEachFlip(bytes(), masks_of, [&](ByteView damaged, size_t at) {
    EXPECT_FALSE(block().Verify(damaged).ok());
    EXPECT_EQ(block().Opens(damaged), at < unchecked_);
    if (at < unchecked_) num_denied += block().CountDenied(damaged);
  });
  // Without Verify, damage would lose keys of the smallest filters unnoticed.
  if (unchecked_ > 0 && block().name.ends_with("_3_keys")) {
    EXPECT_GT(num_denied, 0u);
  }
}

TEST_P(DamagedBlockTest, ANewerVersionIsNotSupported) {
  std::string newer(AsText(bytes()));
  const uint8_t version = block().NewerVersion(bytes());
  newer[block().VersionAt(bytes())] = static_cast<char>(version);
  newer = block().Reseal(AsBytes(newer)).value();
  ExpectRefused(AsBytes(newer), StatusCode::kNotSupported);
  const std::string message = block().Verify(AsBytes(newer)).message();
  EXPECT_NE(message.find(block().NewerText(bytes())), std::string::npos) << message;
}

// Every value in each byte of the fields of small blocks.
TEST_P(DamagedBlockTest, EveryResealedByteDoesNoHarm) {
  const WrittenBlock::Range fields = block().Fields(bytes());
  const auto masks_of = [&](size_t at) {
    if (fields.Has(at)) return IsSmall() || LongTests() ? EveryChange() : EveryBit();
    if (LongTests() && !IsLarge()) return EveryBit();
    if (IsLeftOut(at)) return Masks{};
    return IsSmall() || at % 5 == 0 ? Masks{static_cast<uint8_t>(1 << at % 8)} : Masks{};
  };
  uint64_t num_opened = 0;
  ForEachFlip(bytes(), masks_of, [&](ByteView damaged, size_t) {
    const std::optional<std::string> resealed = block().Reseal(damaged);
    num_opened += resealed && ExpectHarmless(AsBytes(*resealed));
  });
  EXPECT_GT(num_opened, 0u) << "too few to mean anything";
}

TEST_P(DamagedBlockTest, ForeignBytesAreRefused) {
  const std::string zeros(1000, '\0');
  const std::string filter_of_rocksdb =
      std::string(640, 'x') + std::string("\xff\x00\x06\x00\x00", 5);
  ExpectRefused(AsBytes("x" + bytes_));
  ExpectRefused(AsBytes(bytes_ + "x"));
  ExpectRefused({});
  ExpectRefused(AsBytes(zeros).first(5));
  ExpectRefused(AsBytes(zeros).first(6));  // RocksDB's "always may match"
  ExpectRefused(AsBytes(zeros));
  ExpectRefused(AsBytes(filter_of_rocksdb));
  EXPECT_FALSE(HasFilterBlockTail(AsBytes(filter_of_rocksdb)));
}

// Contradictory blocks with correct checksums, in ways that no change of a single byte finds.

void ExpectUnreadable(const std::string& filter) {
  EXPECT_FALSE(WrittenFilters().front()->Opens(AsBytes(filter)));
  EXPECT_FALSE(Filter::Verify(AsBytes(filter)).ok());
}

// An empty filter answers "no" to every key, so the empty flag counts only with a known kind.
TEST(HostileFilterTest, EmptyOnesOfUnknownKindsMayMatch) {
  for (const FilterKind empty_kind : AllFilterKinds()) {
    const std::string empty = Copy(BuildBlock({.kind = empty_kind}, 0));
    for (int kind = 0; kind < 16; ++kind) {
      SCOPED_TRACE(kind);
      std::string changed = empty;
      changed[0] = static_cast<char>((changed[0] & 0xf0) | kind);
      const bool is_known = kind <= static_cast<int>(AllFilterKinds().back());
      if (!is_known) ExpectUnreadable(ResealFilterBlock(AsBytes(changed)).value());
    }
  }
}

TEST(HostileFilterTest, AnEmptyOneHasNoPayload) {
  for (const FilterKind kind : AllFilterKinds()) {
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
