#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include "integration/rocksdb/compat/version_differences.h"
#include "integration/sieve/url_sieve.h"
#include "tests/support/temp_dir.h"

namespace blocksieve::testing {

inline std::string TestUrl(uint64_t number) {
  return "https://host" + std::to_string(number % 97) + ".example/page/" + std::to_string(number);
}

inline std::vector<std::string> TestUrls(uint64_t begin, uint64_t end) {
  std::vector<std::string> urls;
  for (uint64_t i = begin; i < end; ++i) urls.push_back(TestUrl(i));
  return urls;
}

inline void ExpectOk(const rocksdb::Status& status) {
  EXPECT_TRUE(status.ok()) << status.ToString();
}

inline std::unique_ptr<sieve::UrlSieve> OpenSieve(const std::string& path,
                                                  const sieve::SieveOptions& options = {}) {
  std::unique_ptr<sieve::UrlSieve> opened;
  ExpectOk(sieve::UrlSieve::Open(path, options, &opened));
  return opened;
}

inline std::vector<std::string_view> Views(const std::vector<std::string>& urls) {
  return {urls.begin(), urls.end()};
}

inline sieve::UrlCounts Push(sieve::UrlSieve* sieve, const std::vector<std::string>& urls) {
  sieve::UrlCounts counts;
  ExpectOk(sieve->Push(Views(urls), &counts));
  EXPECT_EQ(counts.new_urls + counts.known, urls.size());
  return counts;
}

inline sieve::UrlCounts Forget(sieve::UrlSieve* sieve, const std::vector<std::string>& urls) {
  sieve::UrlCounts counts;
  ExpectOk(sieve->Forget(Views(urls), &counts));
  return counts;
}

/// From a sieve or its queue.
template <class Source>
std::vector<std::string> Pop(Source* source, uint64_t max_urls) {
  std::vector<std::string> popped;
  uint64_t num_popped = 0;
  const auto take = [&](std::span<const std::string> urls) {
    popped.insert(popped.end(), urls.begin(), urls.end());
    return true;
  };
  ExpectOk(source->Pop(max_urls, take, &num_popped));
  EXPECT_EQ(num_popped, popped.size());
  return popped;
}

template <class Source>
std::vector<std::string> PopAll(Source* source) {
  return Pop(source, UINT64_MAX);
}

inline sieve::SieveStats Stats(const sieve::UrlSieve& sieve) {
  sieve::SieveStats stats;
  ExpectOk(sieve.GetStats(&stats));
  return stats;
}

/// With a directory for a sieve.
class SieveTest : public ::testing::Test {
 protected:
  std::unique_ptr<sieve::UrlSieve> Open(const sieve::SieveOptions& options = {}) {
    return OpenSieve(path_, options);
  }

  const TempDir dir_;
  const std::string path_ = dir_ / "sieve";
};

/// Runs `action` on the database of a closed sieve.
inline void InDatabase(const std::string& path,
                       const std::function<rocksdb::Status(rocksdb::DB*)>& action) {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors = {{"default", {}}, {"queue", {}}};
  for (size_t i = 0; i < sieve::kNumShards; ++i) {
    descriptors.emplace_back(sieve::SeenFamily(i), rocksdb::ColumnFamilyOptions());
  }
  const rocksdb::Status status = rocksdb_plugin::OpenDb(&db, [&](rocksdb_plugin::OpenedDb* opened) {
    return rocksdb::DB::Open({}, path, descriptors, &families, opened);
  });
  ASSERT_TRUE(status.ok()) << status.ToString();
  ExpectOk(action(db.get()));
  for (auto* const family : families) ExpectOk(db->DestroyColumnFamilyHandle(family));
}

}  // namespace blocksieve::testing
