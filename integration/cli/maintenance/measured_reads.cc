#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/iterator.h>
#include <rocksdb/statistics.h>

#include <chrono>
#include <memory>
#include <random>
#include <utility>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/cli/database/file_check.h"
#include "integration/cli/maintenance/rewrite_plan.h"
#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {
namespace {

constexpr size_t kSampledKeys = 4096;
constexpr uint64_t kMinBlocks = 2000;  // one standard error is then 2.2 %
constexpr uint64_t kMaxLookups = 2'000'000;
constexpr auto kMaxTime = std::chrono::seconds(5);

// A database with more keys is sampled in kPlaces places, each starting at the first key of a file.
constexpr uint64_t kReadAsAWhole = 2'000'000;
constexpr size_t kPlaces = 64;

// Counts block reads, with a policy that also reads stock filters.
void CountBlocks(rocksdb::ColumnFamilyOptions* options) {
  const auto* const table = TableOptionsOf(*options);
  if (table == nullptr) return;
  constexpr size_t kCacheBytes = 32 << 20;
  rocksdb::BlockBasedTableOptions changed = *table;
  changed.no_block_cache = false;
  changed.block_cache = rocksdb::NewLRUCache(kCacheBytes);
  changed.filter_policy = *NewFilterPolicy({});
  options->table_factory.reset(rocksdb::NewBlockBasedTableFactory(changed));
}

// A random sample of the keys.
std::vector<std::string> SampleKeys(const Database& db, rocksdb::ColumnFamilyHandle* family,
                                    std::mt19937_64* random) {
  KeySample sample(kSampledKeys);
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> entry(db->NewIterator(options, family));
  rocksdb::ColumnFamilyMetaData metadata;
  db->GetColumnFamilyMetaData(family, &metadata);
  uint64_t num_entries = 0;
  std::vector<std::string> begins;
  for (const auto& level : metadata.levels) {
    for (const auto& file : level.files) {
      num_entries += file.num_entries;
      begins.push_back(file.smallestkey);
    }
  }
  const bool is_whole = num_entries <= kReadAsAWhole || begins.size() < kPlaces;
  for (size_t i = 0; i < (is_whole ? 1 : kPlaces); ++i) {
    uint64_t left = is_whole ? ~uint64_t{0} : kReadAsAWhole / kPlaces;
    is_whole ? entry->SeekToFirst() : entry->Seek(begins[(*random)() % begins.size()]);
    for (; left > 0 && entry->Valid(); --left, entry->Next()) {
      term::CheckInterrupt();
      sample.Add(entry->key().ToStringView(), random);
    }
  }
  return sample.keys();
}

}  // namespace

std::optional<double> MeasureReads(const DatabasePlace& database, const std::string& family) {
  UsedOptions options = OptionsToRead(ReadStored(database));
  const auto statistics = options.db.statistics = rocksdb::CreateDBStatistics();
  for (rocksdb::ColumnFamilyDescriptor& each : options.families) CountBlocks(&each.options);
  const Database db(database, std::move(options), Database::Mode::kRead);
  rocksdb::ColumnFamilyHandle* const handle = db.HandleOf(family);
  if (handle->GetComparator()->timestamp_size() != 0) return std::nullopt;
  std::mt19937_64 random(0x626c6f636b);
  const std::vector<std::string> keys = SampleKeys(db, handle, &random);
  if (keys.empty()) return std::nullopt;
  const auto count_blocks = [&] {
    return statistics->getTickerCount(rocksdb::BLOCK_CACHE_DATA_HIT) +
           statistics->getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS);
  };
  rocksdb::PinnableSlice value;
  uint64_t num_lookups = 0;
  uint64_t num_blocks = 0;
  const uint64_t blocks_before = count_blocks();
  const auto end = std::chrono::steady_clock::now() + kMaxTime;
  while (num_lookups < kMaxLookups && num_blocks < kMinBlocks &&
         std::chrono::steady_clock::now() < end) {
    for (const std::string& key : keys) {
      const auto status = db->Get({}, handle, RandomExtension(key, &random), &value);
      if (!status.IsNotFound()) term::CheckOk(status, "cannot look up a key to measure reads");
      value.Reset();
    }
    term::CheckInterrupt();
    num_lookups += keys.size();
    num_blocks = count_blocks() - blocks_before;
  }
  return term::Ratio(num_blocks, num_lookups);
}

}  // namespace blocksieve::cli
