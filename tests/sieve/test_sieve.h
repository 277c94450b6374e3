#pragma once

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "integration/sieve/url_sieve.h"

namespace blocksieve::testing {

inline std::string TestUrl(uint64_t number) {
  return "https://host" + std::to_string(number % 97) + ".example/page/" + std::to_string(number);
}

inline std::unique_ptr<sieve::UrlSieve> OpenSieve(const std::string& path,
                                                  const sieve::SieveOptions& options = {}) {
  std::unique_ptr<sieve::UrlSieve> opened;
  const rocksdb::Status status = sieve::UrlSieve::Open(path, options, &opened);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return opened;
}

inline std::vector<std::string_view> Views(const std::vector<std::string>& urls) {
  return {urls.begin(), urls.end()};
}

inline sieve::PushCounts Push(sieve::UrlSieve* sieve, const std::vector<std::string>& urls) {
  sieve::PushCounts counts;
  const rocksdb::Status status = sieve->Push(Views(urls), &counts);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(counts.new_urls + counts.repeats, urls.size());
  return counts;
}

inline sieve::ForgetCounts Forget(sieve::UrlSieve* sieve, const std::vector<std::string>& urls) {
  sieve::ForgetCounts counts;
  const rocksdb::Status status = sieve->Forget(Views(urls), &counts);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return counts;
}

inline std::vector<std::string> Pop(sieve::UrlSieve* sieve, uint64_t max_urls) {
  std::vector<std::string> popped;
  uint64_t num_popped = 0;
  const auto take = [&](std::span<const std::string> urls) {
    popped.insert(popped.end(), urls.begin(), urls.end());
    return true;
  };
  const rocksdb::Status status = sieve->Pop(max_urls, take, &num_popped);
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(num_popped, popped.size());
  return popped;
}

inline std::vector<std::string> PopAll(sieve::UrlSieve* sieve) { return Pop(sieve, UINT64_MAX); }

inline sieve::SieveStats Stats(const sieve::UrlSieve& sieve) {
  sieve::SieveStats stats;
  const rocksdb::Status status = sieve.GetStats(&stats);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return stats;
}

/// Runs `action` on the database of a closed sieve of one shard.
inline void InDatabase(const std::string& path,
                       const std::function<rocksdb::Status(rocksdb::DB*)>& action) {
  rocksdb::DB* opened = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  const rocksdb::Status status = rocksdb::DB::Open(
      {}, path, {{"default", {}}, {"queue", {}}, {"seen-00", {}}}, &families, &opened);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const std::unique_ptr<rocksdb::DB> db(opened);
  const rocksdb::Status done = action(db.get());
  EXPECT_TRUE(done.ok()) << done.ToString();
  for (auto* const family : families) EXPECT_TRUE(db->DestroyColumnFamilyHandle(family).ok());
}

}  // namespace blocksieve::testing
