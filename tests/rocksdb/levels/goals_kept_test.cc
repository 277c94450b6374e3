// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <rocksdb/memtablerep.h>

#include <cmath>
#include <optional>

#include "blocksieve/hash.h"
#include "blocksieve/tree.h"
#include "tests/support/environment.h"
#include "tests/support/must.h"
#include "tests/support/test_db.h"

// What filters take of what was asked, after a bulk load that is compacted as a whole, for every
// goal with all sections, kinds and shapes of filters.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

// Files of usual size have more keys: the long form.
uint64_t NumFiles() { return LongTests() ? 12 : 2; }
uint64_t NumKeys() { return NumFiles() * (LongTests() ? 20'000 : 3000); }
constexpr uint64_t kEntryBytes = 31;  // in a file

// Such as "a/KZ3p7Qe0c": six bytes are nearly unique, and there are 64 before delimiters.
std::string Key(uint64_t number) {
  const uint64_t hash = HashKey(std::to_string(number));
  std::string key;
  for (int bit = 0; bit < 60; bit += 6) key.push_back(static_cast<char>('0' + (hash >> bit & 63)));
  return key.insert(1, "/");
}

const std::vector<EnableOptions> kGoals = {
    {.bits_per_key = 0.5}, {.bits_per_key = 1},  {.bits_per_key = 2},
    {.bits_per_key = 3},   {.bits_per_key = 5},  {.bits_per_key = 10},
    {.filter_memory = 0},  {.target_fpr = 0.01}, {.wasted_reads = 0.01}};

struct Case {
  EnableOptions options;
  FilterShape shape;

  FilterKind kind() const { return ChooseKind(*options.kind, /*is_short_lived=*/false); }

  // Bits per key of files of one run: those of the goal, or of its rates.
  double BitsAsked() const {
    if (options.bits_per_key) return *options.bits_per_key;
    if (options.filter_memory) return 8 * Ratio(*options.filter_memory, NumKeys());
    FilterRates rates{options.target_fpr.value_or(1), FilterOptions().range_fpr};
    if (options.wasted_reads) {
      RateGoal goal{.wasted_reads = options.wasted_reads};
      if (options.ranges) goal.seek_fraction = kDefaultSeekFraction;
      rates = Must(AllocateRates({{{.keys_per_run = 1e6, .kind = kind()}}}, goal)).levels[0];
    }
    // Prefixes have as many hashes as bring the rate of keys down to theirs.
    const auto lookups = [&](double fpr) {
      return std::ceil(std::log(fpr) / std::log(rates.target_fpr) - 1e-9);
    };
    double hashes = 1;
    if (options.prefixes == "lengths:6") hashes += lookups(0.01);
    if (options.prefixes == "delimiter:/")
      hashes += lookups(options.ranges ? 0.01 : 1e-4) * Ratio(64, NumKeys());
    return hashes * Must(ChooseLayout(kind(), rates.target_fpr)).bits_per_key +
           (options.ranges ? RangeBitsPerKey(rates.range_fpr) : 0);
  }

  // What the number of keys does not change: footers, seeds and codes of each filter, and the index
  // of partitions. And half a filter where some files have none.
  double BitsPerFile() const {
    const double bytes = (options.ranges ? 150 : 50) + (shape == FilterShape::kFull ? 0 : 150);
    const double smallest = Must(ChooseLayout(kind(), kMaxTargetFpr)).bits_per_key;
    return 8 * bytes * Ratio(NumFiles(), NumKeys()) +
           (BitsAsked() < smallest ? smallest / 2 / static_cast<double>(NumFiles()) : 0);
  }
};

// Nothing if the options are refused.
std::optional<double> BitsTaken(const Case& c) {
  const TempDir dir;
  DbConfig config = MakeConfig(c.shape, nullptr);
  config.table.optimize_filters_for_memory = false;
  // RocksDB cuts partitions of filters where it cuts those of its index.
  config.table.block_size = config.table.metadata_block_size = 4096;
  config.options.memtable_factory = std::make_shared<rocksdb::VectorRepFactory>();
  config.options.allow_concurrent_memtable_write = false;
  config.options.target_file_size_base = NumKeys() / NumFiles() * kEntryBytes;
  rocksdb::Options options = config.ToOptions();
  if (const rocksdb::Status status = Enable(&options, c.options); !status.ok()) {
    EXPECT_TRUE(c.options.ranges && c.BitsAsked() < 5.2);
    EXPECT_THAT(status.ToString(), ::testing::ContainsRegex("bits_per_key.*allowed: [45].[16]98"));
    return std::nullopt;
  }
  const auto db = OpenDb(options, dir / "db");
  for (uint64_t flush = 0; flush < NumFiles(); ++flush) {
    rocksdb::WriteBatch batch;
    for (uint64_t i = flush; i < NumKeys(); i += NumFiles())
      MustBeOk(batch.Put(Key(i), "0123456789"));
    rocksdb::WriteOptions write;
    write.disableWAL = true;
    MustBeOk(db->Write(write, &batch));
    MustBeOk(db->Flush({}));
  }
  MustBeOk(db->CompactRange({}, nullptr, nullptr));
  uint64_t bytes = 0;
  for (const auto& [_, file] : FilesOf(*db)) bytes += file->filter_size;
  return 8 * Ratio(bytes, NumKeys());
}

TEST(GoalsKeptTest, FiltersTakeWhatWasAsked) {
  const auto check = [](const Case& c) {
    const std::optional<double> taken = BitsTaken(c);
    if (!taken) return;
    EXPECT_NEAR(*taken, c.BitsAsked(), 0.05 * c.BitsAsked() + c.BitsPerFile())
        << NewPolicy(c.options)->GetPrintableOptions() << NameOf(c.shape);
  };
  for (EnableOptions options : kGoals) {
    if (options.filter_memory) options.filter_memory = NumKeys() * 10 / 8;
    for (const bool ranges : {false, true}) {
      for (const char* const prefixes : {"", "lengths:6", "delimiter:/"}) {
        for (const auto kind : {FilterKind::kAuto, FilterKind::kBlockedBloom, FilterKind::kRibbon,
                                FilterKind::kStock}) {
          const bool has_sections = ranges || *prefixes != 0;
          if (kind == FilterKind::kStock && has_sections) continue;  // refused
          options.ranges = ranges;
          options.prefixes = prefixes;
          options.kind = kind;
          options.carrier = has_sections ? Carrier::kFilterAndSidecar : Carrier::kAuto;
          check({options, FilterShape::kFull});
          check({options, FilterShape::kPartitioned});
        }
      }
    }
  }
}

}  // namespace
}  // namespace blocksieve
