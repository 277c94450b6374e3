#include "lib/base/coding.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace blocksieve {
namespace {

// pitfall 12: the same bytes on every machine.
TEST(Coding, IsLittleEndian) {
  std::string bytes;
  AppendLittleEndian<uint32_t>(&bytes, 0x01020304);
  AppendLittleEndian<uint64_t>(&bytes, 0x1112131415161718);
  AppendLittleEndian<uint16_t>(&bytes, 0x2122);
  EXPECT_EQ(bytes, "\x04\x03\x02\x01\x18\x17\x16\x15\x14\x13\x12\x11\x22\x21");
  Decoder decoder(AsBytes(bytes));
  EXPECT_EQ(decoder.Fixed<uint32_t>(), 0x01020304u);
  EXPECT_EQ(decoder.Fixed<uint64_t>(), 0x1112131415161718u);
  EXPECT_EQ(decoder.Fixed<uint16_t>(), 0x2122u);
  EXPECT_TRUE(decoder.ok());
  EXPECT_TRUE(decoder.rest().empty());
}

TEST(Coding, VarintsRoundTrip) {
  std::vector<uint64_t> values{0, std::numeric_limits<uint64_t>::max()};
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    values.insert(values.end(), {power - 1, power, power + 1});
  }
  for (const uint64_t value : values) {
    std::string bytes;
    AppendVarint(&bytes, value);
    Decoder decoder(AsBytes(bytes));
    EXPECT_EQ(decoder.Varint(), value);
    EXPECT_TRUE(decoder.ok());
    for (size_t length = 0; length < bytes.size(); ++length) {
      Decoder cut(AsBytes(std::string_view(bytes).substr(0, length)));
      cut.Varint();
      EXPECT_FALSE(cut.ok());
    }
  }
}

TEST(Coding, RefusesVarintsAbove64Bits) {
  for (const std::string& bytes : {std::string(9, '\xff') + "\x02",
                                   std::string(10, '\xff') + "\x01", std::string(20, '\x80')}) {
    Decoder decoder(AsBytes(bytes));
    decoder.Varint();
    EXPECT_FALSE(decoder.ok());
  }
}

TEST(Coding, EveryReadAfterAFailureFails) {
  Decoder decoder(AsBytes("abc"));
  decoder.Fixed<uint32_t>();
  EXPECT_FALSE(decoder.ok());
  EXPECT_EQ(decoder.Fixed<uint8_t>(), 0);
  EXPECT_FALSE(decoder.ok());
  Decoder bytes(AsBytes("abc"));
  EXPECT_EQ(bytes.Bytes(3).size(), 3u);
  EXPECT_TRUE(bytes.ok());
  bytes.Bytes(1);
  EXPECT_FALSE(bytes.ok());
  Decoder huge(AsBytes("abc"));
  huge.Bytes(std::numeric_limits<uint64_t>::max());
  EXPECT_FALSE(huge.ok());
}

}  // namespace
}  // namespace blocksieve
