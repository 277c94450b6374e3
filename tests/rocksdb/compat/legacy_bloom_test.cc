#include "integration/rocksdb/compat/legacy_bloom.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>

#include "integration/rocksdb/maintenance/file_report.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "tests/support/built_filter.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

// RocksDB's 32-bit hash spreads similar keys more evenly than random ones.
std::string RandomKey(std::mt19937_64* random) {
  const std::array<uint64_t, 2> key = {(*random)(), (*random)()};
  return std::string(reinterpret_cast<const char*>(key.data()), sizeof(key));
}

// The filters of RocksDB itself, and what `inspect` says of them.
TEST(LegacyBloomTest, PredictsTheMeasuredFpr) {
  std::mt19937_64 random(1);
  for (const int bits_per_key : {5, 10, 15, 20}) {
    const std::shared_ptr<const rocksdb::FilterPolicy> policy(
        rocksdb::NewBloomFilterPolicy(bits_per_key));
    rocksdb::BlockBasedTableOptions table = NotFittedToMemory();
    // Above 2^14 lines, the 32-bit hash counts. Filters with few keys differ, so there are many.
    for (const int num_keys : {100, 3000, 100'000, 1'000'000}) {
      table.format_version = static_cast<uint32_t>(num_keys % 3 + 2);
      const int num_filters = 1 + 200'000 / num_keys;
      const int num_probes = (bits_per_key < 15 ? 1'000'000 : 4'000'000) / num_filters;
      double measured = 0;
      double predicted = 0;
      for (int i = 0; i < num_filters; ++i) {
        const auto builder = NewBuilder(*policy, table);
        for (int key = 0; key < num_keys; ++key) builder->AddKey(RandomKey(&random));
        const BuiltFilter filter = Finish(builder.get());
        FilterReport report;
        DescribeFilters({filter.contents.ToString()}, num_keys, &report);
        ASSERT_EQ(report.kind, "legacy bloom");
        predicted += report.predicted_fpr / num_filters;
        const std::unique_ptr<rocksdb::FilterBitsReader> reader(NewBitsReader(filter.contents));
        int passed = 0;
        for (int probe = 0; probe < num_probes; ++probe) {
          passed += reader->MayMatch(RandomKey(&random));
        }
        measured += static_cast<double>(passed) / num_probes / num_filters;
      }
      // The lowest rate, 0.0017, is measured to 1.2 % (standard error).
      EXPECT_NEAR(predicted / measured, 1, 0.03)
          << bits_per_key << " bits per key, " << num_keys << " keys: " << measured;
    }
  }
}

}  // namespace
}  // namespace blocksieve::rocksdb_plugin
