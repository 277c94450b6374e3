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
  EXPECT_EQ(message({.design_urls = 20'000'000'000}),
            "blocksieve: design_urls is 2e+10; allowed: 0 to 1e+10");
}

TEST_F(UrlSieveOpeningTest, DamagedRecordsAreErrors) {
  const std::pair<std::string, std::string> records[] = {
      {"version", "2"}, {"version", ""}, {"queue", "\xff"}, {"shard-0", "\xff"}};
  for (const auto& record : records) {
    const std::string& key = record.first;
    Push(Open().get(), {"a", "b"});
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
  ASSERT_TRUE(CreateDatabase()->Put({}, sieve::kVersionKey, "1").ok());
  EXPECT_EQ(Push(Open().get(), {"a", "b", "c", "d"}).new_urls, 4u);
  EXPECT_EQ(ColumnFamilies(),
            (std::vector<std::string>{"default", "queue", "seen-0", "seen-1", "seen-2", "seen-3"}));
  EXPECT_EQ(Push(Open().get(), {"a", "b", "c", "d"}).new_urls, 0u);
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
    Push(Open({.design_urls = design_urls}).get(), TestUrls(0, end));
  }

  static bool IsIn(const std::string& path) {
    bool is_there = false;
    InDatabase(path, [&](rocksdb::DB* db) {
      std::string filter;
      const rocksdb::Status status = db->Get({}, "filter-0", &filter);
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
    EXPECT_TRUE(db->Get({}, "filter-0", &filter).ok());
    filter[filter.size() / 3] = static_cast<char>(filter[filter.size() / 3] ^ 0x11);
    return db->Put({}, "filter-0", filter);
  });
  const auto sieve = Open();
  EXPECT_NEAR(Stats(*sieve).estimated.keys, 5000, 5 * Stats(*sieve).estimated.standard_error + 1);
  EXPECT_EQ(Push(sieve.get(), TestUrls(0, 5000)).new_urls, 0u);
}

// An overfull filter is replaced, here by one of the same size.
TEST_F(SavedFilterTest, IsDeletedWhenCompactionReplacesIt) {
  Make(80'000, 2000);
  Forget(Open().get(), TestUrls(4000, 80'000));
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
      if (file.column_family_name != "seen-0") continue;
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
    Push(sieve.get(), TestUrls(2'000'000, 2'000'010));  // some for each shard
    EXPECT_TRUE(sieve->Close().ok());
  }
  EXPECT_FALSE(IsIn(path_));
}

}  // namespace
}  // namespace blocksieve::testing
