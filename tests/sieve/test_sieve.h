#pragma once

#include <gtest/gtest.h>

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

}  // namespace blocksieve::testing
