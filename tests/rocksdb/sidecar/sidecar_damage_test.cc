// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/sidecar/file.h"
#include "tests/rocksdb/sidecar/sidecar_test_db.h"
#include "tests/support/damage.h"
#include "tests/support/faulty_disks.h"
#include "tests/support/logs.h"

// The SST of a missing, damaged, truncated or foreign sidecar is read as a whole. Scans return the
// same rows, and the database opens.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using rocksdb_plugin::SidecarHeader;
using rocksdb_plugin::SstIndex;
using rocksdb_plugin::SstPlace;

class SidecarDamageTest : public SidecarFixture {
 protected:
  struct Sst {
    std::string path;
    std::shared_ptr<const rocksdb::TableProperties> properties;

    SstIndex Open() const { return SstIndex(properties, {rocksdb::FileSystem::Default(), path}); }
  };

  static std::vector<Sst> Ssts(TestDb* db) {
    std::vector<Sst> ssts;
    for (const auto& [path, properties] : FilesOf(db->db())) ssts.push_back({path, properties});
    return ssts;
  }

  static std::string SidecarFile(const Sst& sst) { return rocksdb_plugin::SidecarPath(sst.path); }

  void ExpectUnusable(TestDb& db, const std::string& why) {
    const std::vector<std::string> problems = Problems(db);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_NE(problems[0].find(why), std::string::npos) << problems[0];
  }
};

TEST_F(SidecarDamageTest, EveryDamageIsNoticed) {
  TestDb db(config_);
  FillFiles(&db, 1);
  const Sst sst = Ssts(&db)[0];
  ASSERT_NE(sst.Open().index(), nullptr) << sst.Open().problem();
  const std::string bytes = ReadFile(SidecarFile(sst));
  ForEachDamage(
      AsBytes(bytes), [](size_t at) { return Masks{static_cast<uint8_t>(1u << at % 8)}; },
      [&](ByteView damaged) {
        WriteFile(SidecarFile(sst), std::string(AsText(damaged)));
        EXPECT_EQ(sst.Open().index(), nullptr);
      });
  std::string damaged = bytes;
  damaged[rocksdb_plugin::kSidecarHeaderBytes] ^= 1;
  WriteFile(SidecarFile(sst), damaged);
  ExpectUnusable(db, "index unusable");
  WriteFile(SidecarFile(sst), bytes + '\0');
  EXPECT_EQ(sst.Open().index(), nullptr);
  // A file system that loses unsynced bytes may leave zeros.
  WriteFile(SidecarFile(sst), std::string(bytes.size(), '\0'));
  ExpectUnusable(db, "damaged or has another version");
  WriteFile(SidecarFile(sst), bytes);
  EXPECT_NE(sst.Open().index(), nullptr);
}

TEST_F(SidecarDamageTest, ForeignAndOlderSidecarsAreIgnored) {
  TestDb db(config_);
  TestDb other(config_);
  FillFiles(&db, 1);
  FillFiles(&other, 1);
  const Sst sst = Ssts(&db)[0];
  const Sst same = Ssts(&other)[0];
  ASSERT_EQ(std::filesystem::path(sst.path).filename(),
            std::filesystem::path(same.path).filename());
  // The same rows, in a file with the same number and length.
  std::filesystem::copy_file(SidecarFile(same), SidecarFile(sst),
                             std::filesystem::copy_options::overwrite_existing);
  ExpectUnusable(db, "belongs to another SST");
}

TEST_F(SidecarDamageTest, AFullDiskLeavesIndexesInThePropertiesOrNoFile) {
  for (const uint64_t room : {0, 40, 100, 2000}) {
    SCOPED_TRACE(room);
    const TempDir dir;
    const SstPlace sst{std::make_shared<FullDisk>(room, false), dir / "000007.sst"};
    SidecarHeader header;
    header.index_bytes = 3000;
    const rocksdb::Status status = WriteSidecar(sst, header, std::string(3000, 'x'));
    EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
    EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  }
}

TEST_F(SidecarDamageTest, ASidecarSharedWithACheckpointIsNotOverwritten) {
  const TempDir dir;
  const SstPlace sst{rocksdb::FileSystem::Default(), dir / "000007.sst"};
  WriteFile(dir / "000007.bsx", "stale");
  std::filesystem::create_hard_link(dir / "000007.bsx", dir / "shared");
  SidecarHeader header;
  header.index_bytes = 3;
  MustBeOk(WriteSidecar(sst, header, "new"), "write");
  EXPECT_EQ(ReadFile(dir / "shared"), "stale");
  EXPECT_TRUE(ReadFile(dir / "000007.bsx").ends_with("new"));
}

/// The disk becomes full while files with indexes are written. The database opens again, also with
/// stock RocksDB, has all acknowledged writes, and scans return the right rows.
class SidecarFullDiskTest : public SidecarFixture {
 protected:
  struct Written {
    TestDb::Model acknowledged;
    std::set<std::string> unknown;  // keys whose failed writes may have happened nevertheless
  };

  /// Writes some keys twice, with two flushes and a compaction, until a write fails.
  Written Write(const std::string& path, rocksdb::Env* env) {
    rocksdb::Options options = config_.ToOptions();
    options.env = env;
    Written written;
    std::unique_ptr<rocksdb::DB> db;
    if (!rocksdb_plugin::OpenDb(options, path, &db).ok()) return written;
    for (uint64_t i = 0; i < 60 && written.unknown.empty(); ++i) {
      const std::string key = Key(i * 7919 % 50);
      if (db->Put({}, key, Value(i / 10)).ok()) {
        written.acknowledged[key] = Value(i / 10);
      } else {
        written.unknown.insert(key);
      }
      if (i % 30 == 29) db->Flush({}).PermitUncheckedError();
    }
    db->CompactRange({}, nullptr, nullptr).PermitUncheckedError();
    return written;
  }

  /// Opens the database on a working disk.
  void ExpectAllThere(const DbConfig& config, const std::string& path, Written* written) {
    rocksdb::Options options = config.ToOptions();
    options.env = UnsyncedEnv();
    std::unique_ptr<rocksdb::DB> db;
    const rocksdb::Status status = rocksdb_plugin::OpenDb(options, path, &db);
    ASSERT_TRUE(status.ok()) << status.ToString();
    for (const std::string& key : written->unknown) {
      std::string value;
      if (db->Get({}, key, &value).ok()) written->acknowledged[key] = value;
    }
    const TestDb::Model& model = written->acknowledged;
    EXPECT_EQ(CheckReads(db.get(), model, {"k", "l"}), "");
    const auto is_seven = [](const auto& row) { return row.second == Value(7); };
    EXPECT_EQ(Count(*db, "n = 7"),
              static_cast<size_t>(std::count_if(model.begin(), model.end(), is_seven)));
    for (const char* const where : {"n IN (1, 3)", "t = 'absent'"}) Count(*db, where);
    // Writes continue.
    MustBeOk(db->Put({}, "z", Value(3)));
    written->acknowledged["z"] = Value(3);
    MustBeOk(db->Flush({}));
    Count(*db, "n = 3");
    MustBeOk(db->CompactRange({}, nullptr, nullptr));
    EXPECT_EQ(CheckReads(db.get(), model, {"k", "l"}), "");
    EXPECT_TRUE(db->VerifyChecksum().ok());
  }
};

TEST_F(SidecarFullDiskTest, NothingIsLostAndNothingIsWrong) {
  const auto log = std::make_shared<MemoryLogger>();
  config_ = Config({NewListener()}, 0, log);
  DbConfig stock = Config({});
  stock.options.table_properties_collector_factories.clear();
  uint64_t num_full = 0;
  for (uint64_t room = 0; room / 100 == num_full && !HasFailure(); room += 100) {
    SCOPED_TRACE(std::to_string(room) + " bytes");
    const TempDir dir;
    const std::string path = dir / "db";
    const auto disk = std::make_shared<FullDisk>(room, false);
    ImpatientEnv env(disk);
    Written written = Write(path, &env);
    num_full += disk->is_full();
    if (!std::filesystem::exists(path + "/CURRENT")) continue;  // it was never created
    if (num_full % 2 == 1) ExpectAllThere(stock, path, &written);
    if (!HasFailure()) ExpectAllThere(config_, path, &written);
  }
  EXPECT_GT(num_full, 100u);
  EXPECT_NE(log->text().find("cannot be written"), std::string::npos) << "of sidecars, too";
}

}  // namespace
}  // namespace blocksieve

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
    "b5736964"                          // magic
    "01000000"                          // version, origin
    "08070605040302011817161514131211"  // id
    "04000000"                          // value suffix
    "00000000"                          // no identity
    "7b0000000000000000000000"          // 123 bytes of index
    "6057d427");                        // checksum

const std::string kRebuilt = FromHex(
                                 "b5736964"
                                 "01010000"
                                 "01000000000000000200000000000000"
                                 "00000000"
                                 "05000000"
                                 "070000000000000000000000"
                                 "46fccb1b") +
                             "a=b\nc";

std::optional<SidecarHeader> Decode(std::string_view bytes, uint64_t file_bytes) {
  uint64_t needed_bytes = 0;
  return DecodeSidecarHeader(AsBytes(bytes), file_bytes, &needed_bytes);
}

TEST(SidecarFormatTest, HeadersOfWrittenAndRebuiltSidecars) {
  SidecarHeader written;
  written.id = {0x0102030405060708, 0x1112131415161718};
  written.value_suffix_bytes = 4;
  written.index_bytes = 123;
  SidecarHeader rebuilt;
  rebuilt.is_rebuilt = true;
  rebuilt.id = {1, 2};
  rebuilt.index_bytes = 7;
  rebuilt.identity = "a=b\nc";
  for (const auto& [header, bytes] : {std::pair(written, kWritten), std::pair(rebuilt, kRebuilt)}) {
    EXPECT_EQ(EncodeSidecarHeader(header), bytes);
    const auto read = Decode(bytes, bytes.size() + header.index_bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->is_rebuilt, header.is_rebuilt);
    EXPECT_EQ(read->id, header.id);
    EXPECT_EQ(read->value_suffix_bytes, header.value_suffix_bytes);
    EXPECT_EQ(read->identity, header.identity);
  }
}

TEST(SidecarFormatTest, IdsOfSstsDependOnTheirProperties) {
  rocksdb::TableProperties properties;
  EXPECT_FALSE(IdOfSst(properties));
  properties.db_id = "db";
  properties.db_session_id = "session";
  properties.orig_file_number = 12;
  properties.num_entries = 1000;
  EXPECT_EQ(ToHex({1, UINT64_MAX}), "0000000000000001ffffffffffffffff");
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

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
