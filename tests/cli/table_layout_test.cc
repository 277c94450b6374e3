#include "integration/cli/rocksdb/table_layout.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <tuple>

#include "lib/base/coding.h"

// Where the filters of a RocksDB table are: what is read of sound bytes, and that nothing worse
// than an error comes of others.

namespace blocksieve::cli {
namespace {

constexpr uint64_t kMagic = 0x88e241b785f4cff7;

void AppendEntry(std::string* block, uint64_t shared, std::string_view unshared,
                 std::string_view value) {
  AppendVarint(block, shared);
  AppendVarint(block, unshared.size());
  AppendVarint(block, value.size());
  *block += unshared;
  *block += value;
}

std::string HandleBytes(uint64_t offset, uint64_t size) {
  std::string bytes;
  AppendVarint(&bytes, offset);
  AppendVarint(&bytes, size);
  return bytes;
}

void AppendRestarts(std::string* block, uint32_t number = 1) {
  for (uint32_t i = 0; i < number; ++i) AppendLittleEndian<uint32_t>(block, 0);
  AppendLittleEndian<uint32_t>(block, number);
}

std::string TwoHandles() {
  std::string block;
  AppendEntry(&block, 0, "fullfilter.a", HandleBytes(1000, 200));
  AppendEntry(&block, 11, "bc", HandleBytes(300, 4));
  AppendRestarts(&block);
  return block;
}

// The second handle is behind the first, and 7 bytes shorter; the third stands for itself.
std::string DeltaHandles() {
  std::string block;
  for (const auto& [shared, unshared, value] : {std::tuple{0, "apple", HandleBytes(1000, 200)},
                                                {3, "ly", std::string(1, 13)},
                                                {0, "b", HandleBytes(70000, 3)}}) {
    AppendVarint(&block, static_cast<uint64_t>(shared));
    AppendVarint(&block, std::string_view(unshared).size());
    block += unshared;
    block += value;
  }
  AppendRestarts(&block, 2);
  return block;
}

std::string Footer(uint32_t version) {
  std::string bytes(1, 4);
  bytes += HandleBytes(123456, 78);
  bytes += HandleBytes(1, 2);
  bytes.resize(41);
  AppendLittleEndian(&bytes, version);
  AppendLittleEndian(&bytes, kMagic);
  return bytes;
}

TEST(TableLayout, ReadsHandles) {
  const auto handles = DecodeHandles(AsBytes(TwoHandles()), false);
  ASSERT_TRUE(handles.ok()) << handles.status().message();
  ASSERT_EQ(handles->size(), 2u);
  EXPECT_EQ((*handles)[0].first, "fullfilter.a");
  EXPECT_EQ((*handles)[0].second.offset, 1000u);
  EXPECT_EQ((*handles)[0].second.size, 200u);
  EXPECT_EQ((*handles)[1].first, "fullfilter.bc");
  EXPECT_EQ((*handles)[1].second.offset, 300u);
}

TEST(TableLayout, ReadsHandlesThatAreDifferences) {
  const auto handles = DecodeHandles(AsBytes(DeltaHandles()), true);
  ASSERT_TRUE(handles.ok()) << handles.status().message();
  ASSERT_EQ(handles->size(), 3u);
  EXPECT_EQ((*handles)[1].first, "apply");
  EXPECT_EQ((*handles)[1].second.offset, 1000u + 200 + kBlockTrailerBytes);
  EXPECT_EQ((*handles)[1].second.size, 193u);
  EXPECT_EQ((*handles)[2].first, "b");
  EXPECT_EQ((*handles)[2].second.offset, 70000u);
}

TEST(TableLayout, ReadsFooters) {
  for (const uint32_t version : {1u, 5u}) {
    const Result<TableFooter> footer = DecodeTableFooter(AsBytes("x" + Footer(version)));
    ASSERT_TRUE(footer.ok());
    EXPECT_EQ(footer->checksum_type, 4);
    EXPECT_EQ(footer->metaindex.offset, 123456u);
    EXPECT_EQ(footer->metaindex.size, 78u);
  }
  EXPECT_EQ(DecodeTableFooter(AsBytes(Footer(6))).status().code(), StatusCode::kNotSupported);
}

TEST(TableLayout, ChecksumsAreThoseOfRocksDb) {
  // CRC-32C of "123456789" is e3069283 (RFC 3720 and others), masked as LevelDB masks it.
  constexpr uint32_t kCrc = 0xe3069283;
  constexpr uint32_t kMasked = ((kCrc >> 15) | (kCrc << 17)) + 0xa282ead8;
  const ByteView bytes = AsBytes("123456789");
  EXPECT_TRUE(CheckBlock(1, bytes, kMasked).ok());
  EXPECT_EQ(CheckBlock(1, bytes, kMasked ^ 1).code(), StatusCode::kCorruption);
  EXPECT_TRUE(CheckBlock(0, bytes, 17).ok());
  for (const uint8_t type : {uint8_t{2}, uint8_t{3}, uint8_t{4}}) {
    EXPECT_EQ(CheckBlock(type, bytes, 17).code(), StatusCode::kCorruption);
  }
  EXPECT_EQ(CheckBlock(5, bytes, 17).code(), StatusCode::kNotSupported);
}

TEST(TableLayout, EveryTruncationAndFlippedBitIsAnErrorOrSomeHandles) {
  for (const bool deltas : {false, true}) {
    const std::string good = deltas ? DeltaHandles() : TwoHandles();
    for (size_t size = 0; size < good.size(); ++size) {
      // In memory of its own, so that a sanitizer sees reads beyond it.
      const std::string cut(good, 0, size);
      static_cast<void>(DecodeHandles(AsBytes(cut), deltas));
    }
    for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
      std::string damaged = good;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      const auto handles = DecodeHandles(AsBytes(damaged), deltas);
      if (handles.ok()) {
        EXPECT_LE(handles->size(), good.size() / 2);
      }
    }
  }
  for (size_t size = 0; size < TableFooter::kMaxBytes; ++size) {
    EXPECT_FALSE(DecodeTableFooter(AsBytes(Footer(5).substr(0, size))).ok());
    EXPECT_FALSE(DecodeTableFooter(AsBytes(Footer(5).substr(TableFooter::kMaxBytes - size))).ok());
  }
}

TEST(TableLayout, RandomBytesAreHarmless) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes(random() % 60, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 12);
    AppendRestarts(&bytes);
    for (const bool deltas : {false, true}) {
      static_cast<void>(DecodeHandles(AsBytes(bytes), deltas));
    }
    bytes.resize(45);
    AppendLittleEndian(&bytes, kMagic);
    static_cast<void>(DecodeTableFooter(AsBytes(bytes)));
  }
}

TEST(TableLayout, KeysThatWouldFillTheMemoryAreRefused) {
  // A long key, and then again and again one that shares all of it.
  std::string block;
  AppendEntry(&block, 0, std::string(1 << 20, 'k'), HandleBytes(0, 0));
  for (int i = 0; i < 1000; ++i) AppendEntry(&block, 1 << 20, "", HandleBytes(0, 0));
  AppendRestarts(&block);
  EXPECT_EQ(DecodeHandles(AsBytes(block), false).status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace blocksieve::cli
