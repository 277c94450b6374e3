#include "integration/rocksdb/sidecar/format.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/damage.h"

// The bytes of integration/rocksdb/FORMAT.md, spelled out because they are a promise.

namespace blocksieve::rocksdb_plugin {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

std::string FromHex(std::string_view digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

const std::string kWritten = FromHex(
    "b5627378"                          // magic
    "01000000"                          // version, origin, coverage
    "08070605040302011817161514131211"  // id
    "04000000"                          // value suffix
    "00000000"                          // no identity
    "7b0000000000000000000000"          // 123 bytes of index
    "fdd21e26");                        // checksum

const std::string kRebuilt = FromHex(
                                 "b5627378"
                                 "01010100"
                                 "01000000000000000200000000000000"
                                 "00000000"
                                 "05000000"
                                 "070000000000000000000000"
                                 "d8910a0d") +
                             "a=b\nc";

std::optional<SidecarHeader> Decode(std::string_view bytes, uint64_t file_bytes) {
  uint64_t needed_bytes = 0;
  uint32_t checksum = 0;
  return DecodeSidecarHeader(AsBytes(bytes), file_bytes, &needed_bytes, &checksum);
}

TEST(SidecarFormat, HeadersOfWrittenAndRebuiltSidecars) {
  SidecarHeader written;
  written.id = {0x0102030405060708, 0x1112131415161718};
  written.value_suffix_bytes = 4;
  written.index_bytes = 123;
  SidecarHeader rebuilt;
  rebuilt.origin = SidecarOrigin::kRebuilt;
  rebuilt.coverage = SidecarCoverage::kNewestVersions;
  rebuilt.id = {1, 2};
  rebuilt.index_bytes = 7;
  rebuilt.identity = "a=b\nc";
  for (const auto& [header, bytes] : {std::pair(written, kWritten), std::pair(rebuilt, kRebuilt)}) {
    EXPECT_EQ(EncodeSidecarHeader(header), bytes);
    const auto read = Decode(bytes, bytes.size() + header.index_bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->origin, header.origin);
    EXPECT_EQ(read->coverage, header.coverage);
    EXPECT_EQ(read->id, header.id);
    EXPECT_EQ(read->value_suffix_bytes, header.value_suffix_bytes);
    EXPECT_EQ(read->identity, header.identity);
  }
}

TEST(SidecarFormat, EveryChangeIsNoticed) {
  ForEachFlip(
      AsBytes(kRebuilt), [](size_t) { return EveryChange(); },
      [](ByteView damaged, size_t) { EXPECT_FALSE(Decode(AsText(damaged), damaged.size() + 7)); });
  for (size_t size = 0; size < kRebuilt.size(); ++size) {
    EXPECT_FALSE(Decode(kRebuilt.substr(0, size), kRebuilt.size() + 7)) << size;
  }
  EXPECT_FALSE(Decode(kRebuilt, kRebuilt.size() + 6));
  EXPECT_FALSE(Decode(kRebuilt, kRebuilt.size() + 8));
}

TEST(SidecarFormat, ReportsHowManyBytesItNeeds) {
  uint64_t needed_bytes = 0;
  uint32_t checksum = 0;
  const std::string start = kRebuilt.substr(0, kSidecarHeaderBytes);
  EXPECT_FALSE(DecodeSidecarHeader(AsBytes(start), 1000, &needed_bytes, &checksum));
  EXPECT_EQ(needed_bytes, kRebuilt.size());
}

TEST(SidecarFormat, IdsOfSstsDependOnTheirProperties) {
  rocksdb::TableProperties properties;
  EXPECT_FALSE(IdOfSst(properties));
  properties.db_id = "db";
  properties.db_session_id = "session";
  properties.orig_file_number = 12;
  properties.num_entries = 1000;
  ASSERT_TRUE(IdOfSst(properties));
  EXPECT_EQ(*IdOfSst(properties), (SidecarId{11096528235407611441u, 606899817660617325u}));
  std::set<SidecarId> ids{*IdOfSst(properties)};
  for (uint64_t rocksdb::TableProperties::*const fact :
       {&rocksdb::TableProperties::orig_file_number, &rocksdb::TableProperties::num_entries,
        &rocksdb::TableProperties::raw_key_size, &rocksdb::TableProperties::raw_value_size,
        &rocksdb::TableProperties::data_size, &rocksdb::TableProperties::num_data_blocks,
        &rocksdb::TableProperties::creation_time}) {
    rocksdb::TableProperties other = properties;
    ++(other.*fact);
    EXPECT_TRUE(ids.insert(*IdOfSst(other)).second);
  }
  properties.db_session_id = "other";
  EXPECT_TRUE(ids.insert(*IdOfSst(properties)).second);
}

TEST(SidecarFormat, NamesHaveNumbers) {
  EXPECT_EQ(NumberInName("000012.bsx", kSidecarSuffix), "000012");
  for (const char* const name : {"000012.sst", "x12.bsx", ".bsx", "bsx", "", "000012.bsx.tmp"}) {
    EXPECT_EQ(NumberInName(name, kSidecarSuffix), "") << name;
  }
}

TEST(SidecarFormat, ReferencesHaveAnId) {
  const std::string text = SidecarReference({1, UINT64_MAX}, 12345, 0xabc);
  EXPECT_EQ(text, "id=0000000000000001ffffffffffffffff bytes=12345 checksum=00000abc");
  EXPECT_EQ(IdInReference(text), ToHex({1, UINT64_MAX}));
  for (const char* const bad : {"", "id", "x"}) EXPECT_EQ(IdInReference(bad), "");
}

TEST(SidecarFormat, PathsFollowTheirSsts) {
  EXPECT_EQ(SidecarPath("/a.b/c/000012.sst"), "/a.b/c/000012.bsx");
  EXPECT_EQ(SidecarPath("/a.b/000012"), "/a.b/000012.bsx");
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
