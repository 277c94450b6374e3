#include "tests/support/damage.h"

#include "blocksieve/filter.h"
#include "lib/block/footer.h"
#include "tests/core/format/written_block.h"
#include "tests/support/environment.h"

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

}  // namespace
}  // namespace blocksieve::testing
