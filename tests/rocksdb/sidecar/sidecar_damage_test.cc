
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/sidecar/file.h"
#include "tests/rocksdb/sidecar/sidecar_test_db.h"
#include "tests/support/damage.h"
#include "tests/support/faulty_disks.h"

// The SST of a missing, damaged, truncated or foreign sidecar is read as a whole. Scans return the
// same rows, and the database opens.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support
using rocksdb_plugin::FileIndex;
using rocksdb_plugin::SidecarHeader;
using rocksdb_plugin::SstPlace;

class SidecarDamage : public SidecarFixture {
 protected:
  struct Sst {
    std::string path;
    std::shared_ptr<const rocksdb::TableProperties> properties;

    FileIndex Open() const {
      return FileIndex(properties, {rocksdb::FileSystem::Default(), path, nullptr}, std::nullopt);
    }
  };

  static std::vector<Sst> Ssts(TestDb* db) {
    std::vector<Sst> ssts;
    for (const auto& [path, properties] : FilesOf(db->db())) ssts.push_back({path, properties});
    return ssts;
  }

  static std::string SidecarOf(const Sst& sst) { return rocksdb_plugin::SidecarPath(sst.path); }

  void ExpectUnusable(TestDb& db, const std::string& why) {
    const std::vector<std::string> problems = Problems(db);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_NE(problems[0].find(why), std::string::npos) << problems[0];
  }
};

TEST_F(SidecarDamage, AMissingSidecarCostsReads) {
  TestDb db(config_);
  FillFiles(&db);
  const Sst sst = Ssts(&db)[1];
  const std::string bytes = ReadFile(SidecarOf(sst));
  std::filesystem::remove(SidecarOf(sst));
  ExpectUnusable(db, "is missing");
  // It may come back.
  WriteFile(SidecarOf(sst), bytes);
  EXPECT_TRUE(Problems(db).empty());
}

TEST_F(SidecarDamage, EveryFlippedBitIsNoticed) {
  TestDb db(config_);
  FillFiles(&db, 1);
  const Sst sst = Ssts(&db)[0];
  ASSERT_NE(sst.Open().index(), nullptr) << sst.Open().problem();
  const std::string bytes = ReadFile(SidecarOf(sst));
  ForEachFlip(
      AsBytes(bytes), [](size_t at) { return Masks{static_cast<uint8_t>(1u << at % 8)}; },
      [&](ByteView damaged, size_t) {
        WriteFile(SidecarOf(sst), std::string(AsText(damaged)));
        EXPECT_EQ(sst.Open().index(), nullptr);
      });
  std::string damaged = bytes;
  damaged[rocksdb_plugin::kSidecarHeaderBytes] ^= 1;
  WriteFile(SidecarOf(sst), damaged);
  ExpectUnusable(db, "index unusable");
}

TEST_F(SidecarDamage, TruncatedAndLongerSidecarsAreIgnored) {
  TestDb db(config_);
  FillFiles(&db, 1);
  const Sst sst = Ssts(&db)[0];
  const std::string bytes = ReadFile(SidecarOf(sst));
  for (size_t size = 0; size < bytes.size(); ++size) {
    WriteFile(SidecarOf(sst), bytes.substr(0, size));
    ASSERT_EQ(sst.Open().index(), nullptr) << size;
  }
  WriteFile(SidecarOf(sst), bytes + '\0');
  EXPECT_EQ(sst.Open().index(), nullptr);
  // A file system that loses unsynced bytes may leave zeros.
  WriteFile(SidecarOf(sst), std::string(bytes.size(), '\0'));
  ExpectUnusable(db, "damaged or has another version");
  WriteFile(SidecarOf(sst), bytes);
  EXPECT_NE(sst.Open().index(), nullptr);
}

TEST_F(SidecarDamage, ForeignAndOlderSidecarsAreIgnored) {
  TestDb db(config_);
  TestDb other(config_);
  FillFiles(&db, 1);
  FillFiles(&other, 1);
  const Sst sst = Ssts(&db)[0];
  const Sst same = Ssts(&other)[0];
  ASSERT_EQ(std::filesystem::path(sst.path).filename(),
            std::filesystem::path(same.path).filename());
  // The same rows, in a file with the same number and length.
  std::filesystem::copy_file(SidecarOf(same), SidecarOf(sst),
                             std::filesystem::copy_options::overwrite_existing);
  ExpectUnusable(db, "belongs to another SST");
}

TEST_F(SidecarDamage, AFullDiskLeavesIndexesInThePropertiesOrNoFile) {
  for (const uint64_t room : {0, 40, 100, 2000}) {
    SCOPED_TRACE(room);
    const TempDir dir;
    const SstPlace sst{std::make_shared<FullDisk>(room, false), dir / "000007.sst", nullptr};
    SidecarHeader header;
    header.index_bytes = 3000;
    std::string reference;
    const rocksdb::Status status = WriteSidecar(sst, header, std::string(3000, 'x'), &reference);
    EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
    EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  }
}

TEST_F(SidecarDamage, ASidecarSharedWithACheckpointIsNotOverwritten) {
  const TempDir dir;
  const SstPlace sst{rocksdb::FileSystem::Default(), dir / "000007.sst", nullptr};
  WriteFile(dir / "000007.bsx", "stale");
  std::filesystem::create_hard_link(dir / "000007.bsx", dir / "shared");
  SidecarHeader header;
  header.index_bytes = 3;
  std::string reference;
  MustBeOk(WriteSidecar(sst, header, "new", &reference), "write");
  EXPECT_EQ(ReadFile(dir / "shared"), "stale");
  EXPECT_TRUE(ReadFile(dir / "000007.bsx").ends_with("new"));
}

}  // namespace
}  // namespace blocksieve
