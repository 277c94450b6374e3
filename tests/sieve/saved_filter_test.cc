#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "integration/sieve/url_sieve.h"
#include "tests/sieve/test_sieve.h"

// The counting filter that is saved on closing: only as long as it is what the URLs make. An old
// one would deny URLs that came later.

namespace blocksieve::testing {
namespace {

namespace fs = std::filesystem;

class SavedFilter : public SieveTest {
 protected:
  // A sieve closed with URLs 0 to `end`.
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

TEST_F(SavedFilter, IsMadeAnewIfItIsDamaged) {
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

TEST_F(SavedFilter, GoesWithTheFirstChange) {
  Make(1000);
  EXPECT_TRUE(IsIn(path_));
  const auto sieve = Open();
  Push(sieve.get(), {"new"});
  fs::copy(path_, dir_ / "killed");
  EXPECT_FALSE(IsIn(dir_ / "killed"));
}

// An over-full filter is replaced, here by one of the same size.
TEST_F(SavedFilter, GoesWhenCompactionMakesAnother) {
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

// A push that fails leaves URLs in the counting filter which the database has not.
TEST_F(SavedFilter, IsNotSavedOnceAPushHasFailed) {
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
    sieve::PushCounts counts;
    EXPECT_FALSE(sieve->Push(Views(urls), &counts).ok());
    Push(sieve.get(), {"new"});
    EXPECT_TRUE(sieve->Close().ok());
  }
  EXPECT_FALSE(IsIn(path_));
}

}  // namespace
}  // namespace blocksieve::testing
