#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "integration/sieve/sieve_format.h"
#include "integration/sieve/url_sieve.h"
#include "tests/sieve/test_sieve.h"
#include "tests/support/test_db.h"

namespace blocksieve::testing {
namespace {

namespace fs = std::filesystem;
using sieve::SieveOptions;
using sieve::UrlSieve;
using sieve::WriteSettings;

class UrlSieveOpeningTest : public SieveTest {
 protected:
  rocksdb::Status TryOpen(const SieveOptions& options) {
    std::unique_ptr<UrlSieve> opened;
    return UrlSieve::Open(path_, options, &opened);
  }

  std::unique_ptr<rocksdb::DB> CreateDatabase() {
    rocksdb::Options options;
    options.create_if_missing = true;
    return OpenDb(options, path_);
  }

  std::vector<std::string> ColumnFamilies() {
    std::vector<std::string> families;
    EXPECT_TRUE(rocksdb::DB::ListColumnFamilies({}, path_, &families).ok());
    return families;
  }
};

TEST_F(UrlSieveOpeningTest, BadOptionsAreNamed) {
  const auto message = [&](const SieveOptions& options) {
    const rocksdb::Status status = TryOpen(options);
    EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
    return std::string(status.getState() == nullptr ? "" : status.getState());
  };
  EXPECT_EQ(message({.num_shards = 65}), "num_shards is 65; allowed: 1 to 64");
  EXPECT_EQ(message({.design_urls = 20'000'000'000}),
            "design_urls is 20000000000; allowed: 1 to 10000000000");
  Open({.num_shards = 2}).reset();
  EXPECT_EQ(message({.num_shards = 3}),
            "num_shards is 3; allowed: 2, with which the sieve was created");
}

TEST_F(UrlSieveOpeningTest, DamagedRecordsAreErrors) {
  const std::string no_shards("\1\0\1", 3);
  const std::pair<std::string, std::string> records[] = {
      {"settings", "\xff"}, {"settings", no_shards}, {"queue", "\xff"}, {"shard-00", "\xff"}};
  for (const auto& record : records) {
    const std::string& key = record.first;
    Push(Open({.num_shards = 1}).get(), {"a", "b"});
    std::string sound;
    InDatabase(path_, [&](rocksdb::DB* db) {
      const rocksdb::Status status = db->Get({}, key, &sound);
      return status.IsNotFound() || status.ok() ? db->Put({}, key, record.second) : status;
    });
    EXPECT_FALSE(TryOpen({}).ok()) << key;
    InDatabase(path_, [&](rocksdb::DB* db) {
      return sound.empty() ? db->Delete({}, key) : db->Put({}, key, sound);
    });
    EXPECT_EQ(Push(Open().get(), {"a", "b"}).new_urls, 0u) << key;
  }
}

// RocksDB has written its IDENTITY, but no CURRENT.
TEST_F(UrlSieveOpeningTest, CreationMayHaveBeenInterrupted) {
  fs::create_directory(path_);
  std::ofstream(path_ + "/IDENTITY") << "an identity";
  std::ofstream(path_ + "/LOG") << "a log for people";
  std::ofstream(path_ + "/MANIFEST-000001") << "half a record";
  EXPECT_EQ(Push(Open().get(), {"a"}).new_urls, 1u);
}

TEST_F(UrlSieveOpeningTest, ColumnFamiliesMayBeMissing) {
  const SieveOptions settings{.num_shards = 3, .design_urls = 1000};
  ASSERT_TRUE(WriteSettings(CreateDatabase().get(), settings).ok());
  EXPECT_TRUE(TryOpen({.num_shards = 2}).IsInvalidArgument());
  EXPECT_EQ(Push(Open().get(), {"a", "b", "c", "d"}).new_urls, 4u);
  EXPECT_EQ(ColumnFamilies(),
            (std::vector<std::string>{"default", "queue", "seen-00", "seen-01", "seen-02"}));
  EXPECT_EQ(Push(Open().get(), {"a", "b", "c", "d"}).new_urls, 0u);
}

TEST_F(UrlSieveOpeningTest, AnotherProcessMayCreateIt) {
  Open({.num_shards = 1, .design_urls = 1000}).reset();
  InDatabase(path_, [](rocksdb::DB* db) {
    EXPECT_TRUE(WriteSettings(db, {.num_shards = 8, .design_urls = 1000}).IsAborted());
    return WriteSettings(db, {.num_shards = 1, .design_urls = 1000});
  });
}

TEST_F(UrlSieveOpeningTest, LeftoversOfADatabaseAreKept) {
  std::ofstream(path_) << "a file";
  EXPECT_EQ(TryOpen({}).ToString(), "Invalid argument: " + path_ + " is not a directory");
  fs::remove(path_);
  Push(Open().get(), {"a"});
  fs::remove(path_ + "/CURRENT");
  EXPECT_TRUE(TryOpen({}).IsCorruption());
}

// The counting filter that is saved on closing is valid only while the URLs do not change: an old
// one would not contain later URLs.
class SavedFilterTest : public SieveTest {
 protected:
  // Creates and closes a sieve with URLs 0 to `end`.
  void Make(uint64_t end, uint64_t design_urls = 20'000) {
    Push(Open({.num_shards = 1, .design_urls = design_urls}).get(), TestUrls(0, end));
  }

  static bool IsIn(const std::string& path) {
    bool is_there = false;
    InDatabase(path, [&](rocksdb::DB* db) {
      std::string filter;
      const rocksdb::Status status = db->Get({}, "filter-00", &filter);
      is_there = status.ok();
      return status.IsNotFound() ? rocksdb::Status::OK() : status;
    });
    return is_there;
  }
};

TEST_F(SavedFilterTest, IsRebuiltIfDamaged) {
  Make(5000);
  InDatabase(path_, [](rocksdb::DB* db) {
    std::string filter;
    EXPECT_TRUE(db->Get({}, "filter-00", &filter).ok());
    filter[filter.size() / 3] = static_cast<char>(filter[filter.size() / 3] ^ 0x11);
    return db->Put({}, "filter-00", filter);
  });
  const auto sieve = Open();
  EXPECT_NEAR(Stats(*sieve).estimated.keys, 5000, 5 * Stats(*sieve).estimated.standard_error + 1);
  EXPECT_EQ(Push(sieve.get(), TestUrls(0, 5000)).new_urls, 0u);
}

// An overfull filter is replaced, here by one of the same size.
TEST_F(SavedFilterTest, IsDeletedWhenCompactionReplacesIt) {
  Make(20'000, 2000);
  Forget(Open().get(), TestUrls(1000, 20'000));
  EXPECT_TRUE(IsIn(path_));
  const auto sieve = Open();
  EXPECT_FALSE(Stats(*sieve).overfull.empty());
  EXPECT_TRUE(sieve->Compact().ok());
  EXPECT_TRUE(Stats(*sieve).overfull.empty());
  fs::copy(path_, dir_ / "killed");
  EXPECT_FALSE(IsIn(dir_ / "killed"));
}

// A failed push leaves URLs in the counting filter that the database does not have.
TEST_F(SavedFilterTest, IsNotSavedAfterAFailedPush) {
  Make(1000);
  EXPECT_TRUE(Open()->Compact().ok());
  InDatabase(path_, [&](rocksdb::DB* db) {
    std::vector<rocksdb::LiveFileMetaData> files;
    db->GetLiveFilesMetaData(&files);
    for (const rocksdb::LiveFileMetaData& file : files) {
      if (file.column_family_name != "seen-00") continue;
      std::fstream sst(path_ + file.name, std::ios::in | std::ios::out | std::ios::binary);
      sst.seekp(200);
      sst << "damage in the first block";
    }
    return rocksdb::Status::OK();
  });
  {
    const auto sieve = Open();
    std::vector<std::string> urls = TestUrls(1'000'000, 1'010'000);
    for (const std::string& url : TestUrls(0, 1000)) urls.push_back(url);
    sieve::UrlCounts counts;
    EXPECT_FALSE(sieve->Push(Views(urls), &counts).ok());
    Push(sieve.get(), {"new"});
    EXPECT_TRUE(sieve->Close().ok());
  }
  EXPECT_FALSE(IsIn(path_));
}

}  // namespace
}  // namespace blocksieve::testing
