#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/iterator.h>
#include <rocksdb/statistics.h>

#include <chrono>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/cli/database/file_check.h"
#include "integration/cli/database/open_database.h"
#include "integration/cli/maintenance/rewrite_plan.h"
#include "integration/cli/term/failure.h"
#include "integration/cli/term/text.h"

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

UsedOptions CountingOptions(const DatabasePlace& place,
                            std::shared_ptr<rocksdb::Statistics> statistics) {
  UsedOptions options = OptionsToRead(ReadStored(place));
  options.db.statistics = std::move(statistics);
  for (rocksdb::ColumnFamilyDescriptor& family : options.families) CountBlocks(&family.options);
  return options;
}

/// A column family, opened for lookups whose reads are counted.
class CountedDatabase {
 public:
  CountedDatabase(const DatabasePlace& place, const std::string& family)
      : db_(place, CountingOptions(place, statistics_), Database::Mode::kRead),
        family_(db_.HandleOf(family)) {}

  bool HasTimestamps() const { return family_->GetComparator()->timestamp_size() != 0; }

  /// A random sample of the keys.
  std::vector<std::string> SampleKeys(std::mt19937_64* random) {
    KeySample sample(kSampledKeys);
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    options.total_order_seek = true;
    const std::unique_ptr<rocksdb::Iterator> entry(db_->NewIterator(options, family_));
    rocksdb::ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(family_, &metadata);
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

  void LookUp(const std::string& key) {
    const rocksdb::Status status = db_->Get({}, family_, key, &value_);
    if (!status.IsNotFound()) term::CheckOk(status, "cannot look up a key to measure reads");
    value_.Reset();
  }

  uint64_t NumBlocks() const {
    return statistics_->getTickerCount(rocksdb::BLOCK_CACHE_DATA_HIT) +
           statistics_->getTickerCount(rocksdb::BLOCK_CACHE_DATA_MISS);
  }

 private:
  const std::shared_ptr<rocksdb::Statistics> statistics_ = rocksdb::CreateDBStatistics();
  const Database db_;
  rocksdb::ColumnFamilyHandle* const family_;
  rocksdb::PinnableSlice value_;
};

}  // namespace

std::optional<double> MeasureReads(const DatabasePlace& database, const std::string& family) {
  CountedDatabase db(database, family);
  if (db.HasTimestamps()) return std::nullopt;
  std::mt19937_64 random(0x626c6f636b);
  const std::vector<std::string> keys = db.SampleKeys(&random);
  if (keys.empty()) return std::nullopt;
  uint64_t num_lookups = 0;
  uint64_t num_blocks = 0;
  const uint64_t blocks_before = db.NumBlocks();
  const auto end = std::chrono::steady_clock::now() + kMaxTime;
  while (num_lookups < kMaxLookups && num_blocks < kMinBlocks &&
         std::chrono::steady_clock::now() < end) {
    for (const std::string& key : keys) db.LookUp(RandomExtension(key, &random));
    term::CheckInterrupt();
    num_lookups += keys.size();
    num_blocks = db.NumBlocks() - blocks_before;
  }
  return term::Ratio(num_blocks, num_lookups);
}

}  // namespace blocksieve::cli
