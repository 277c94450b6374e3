#include "integration/sieve/url_sieve.h"

#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <thread>

#include "blocksieve/hash.h"
#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/rocksdb/compat/guarded_file_system.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/sieve/sieve_format.h"

namespace blocksieve::sieve {
namespace {

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ColumnFamilyOptions;

constexpr size_t kWriteBufferBytes = 32 << 20;
constexpr size_t kBlockCacheBytes = 64 << 20;

constexpr double kLastLevelFpr = 0.0135;
constexpr double kUpperLevelsFpr = 0.001;

std::shared_ptr<const rocksdb::FilterPolicy> NewRibbon(double target_fpr) {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status =
      NewFilterPolicy({.target_fpr = target_fpr, .kind = PolicyKind::kRibbon}, &policy);
  if (!status.ok()) throw std::bad_alloc();  // the options are valid
  return policy;
}

/// The filter policy for the files of a shard.
///
/// A lookup of a new URL probes the filter of every file whose key range contains it, and their
/// FPRs add up. Nearly all URLs are on the last level, where that is one file: its filters have the
/// FPR wanted for the whole lookup, at 6.3 bits per URL. The files above are small, but up to six
/// of them may contain the URL. Their FPR is a thirteenth, at 10 bits per URL, which is what all
/// URLs of a small sieve take.
class SieveFilterPolicy final : public rocksdb::FilterPolicy {
 public:
  const char* Name() const override { return last_level_->Name(); }
  const char* CompatibilityName() const override { return last_level_->CompatibilityName(); }

  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override {
    const auto& policy = context.is_bottommost ? last_level_ : upper_levels_;
    return policy->GetBuilderWithContext(context);
  }

  // Both policies read each other's filters.
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override {
    return last_level_->GetFilterBitsReader(contents);
  }

 private:
  std::shared_ptr<const rocksdb::FilterPolicy> last_level_ = NewRibbon(kLastLevelFpr);
  std::shared_ptr<const rocksdb::FilterPolicy> upper_levels_ = NewRibbon(kUpperLevelsFpr);
};

ColumnFamilyOptions QueueOptions() {
  ColumnFamilyOptions options;
  options.write_buffer_size = kWriteBufferBytes;
  options.compression = rocksdb::kLZ4Compression;
  return options;
}

ColumnFamilyOptions SeenOptions(const std::shared_ptr<rocksdb::Cache>& cache) {
  ColumnFamilyOptions options = QueueOptions();
  // Keeps nearly all URLs on the last level, where filters are smallest.
  options.level_compaction_dynamic_level_bytes = true;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.format_version = 5;
  // Filters and indexes stay in memory with their open files, so no lookup has to read them.
  table.cache_index_and_filter_blocks = false;
  table.filter_policy = std::make_shared<SieveFilterPolicy>();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

size_t NumThreads() { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace

rocksdb::Status UrlSieve::Open(const std::string& path, const SieveOptions& options,
                               std::unique_ptr<UrlSieve>* sieve) {
  sieve->reset();
  std::unique_ptr<UrlSieve> opened(new UrlSieve);
  rocksdb::Status status = opened->RecordFailure(opened->OpenDatabase(path, options));
  if (status.ok()) *sieve = std::move(opened);
  return status;
}

rocksdb::Status UrlSieve::OpenDatabase(const std::string& path, const SieveOptions& options) {
  SieveOptions settings = options;
  rocksdb::Status status = ReadSettings(path, &settings);
  if (!status.ok()) return status;

  status = rocksdb_plugin::CreateNamedDirectory(path);
  if (!status.ok()) return status;
  env_ = rocksdb_plugin::EnvOfDirectory(path);
  rocksdb::DBOptions db_options;
  db_options.env = env_.get();
  db_options.create_if_missing = true;
  db_options.info_log = rocksdb_plugin::NewFullDiskLog(path);
  db_options.max_background_jobs = static_cast<int>(std::max(size_t{2}, NumThreads()));
  const auto cache = rocksdb::NewLRUCache(kBlockCacheBytes);
  std::vector<ColumnFamilyDescriptor> families{
      {rocksdb::kDefaultColumnFamilyName, ColumnFamilyOptions()}, {kQueueFamily, QueueOptions()}};
  for (size_t i = 0; i < settings.num_shards; ++i) {
    families.emplace_back(SeenFamily(i), SeenOptions(cache));
  }
  status = OpenFamilies(path, db_options, families, settings);
  if (!status.ok()) return status;

  queue_ = std::make_unique<Queue>(db_.get(), handles_[1]);
  status = queue_->Load();
  if (!status.ok()) return status;
  for (size_t i = 0; i < settings.num_shards; ++i) {
    shards_.push_back(std::make_unique<Shard>(db_.get(), handles_[2 + i], queue_.get(), i));
  }
  const uint64_t design_urls = settings.design_urls / settings.num_shards;
  return ForEachShardInParallel(
      [&](size_t shard) { return shards_[shard]->Load(std::max(uint64_t{1}, design_urls)); });
}

// Creates missing families one by one, after the settings are written: before the database is open,
// another process may create a sieve with other settings.
rocksdb::Status UrlSieve::OpenFamilies(const std::string& path, const rocksdb::DBOptions& options,
                                       const std::vector<ColumnFamilyDescriptor>& families,
                                       const SieveOptions& settings) {
  std::vector<std::string> present;
  rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, path, &present);
  const size_t num_present = status.ok() ? std::min(present.size(), families.size()) : 1;
  status = rocksdb_plugin::OpenDb(&db_, [&](rocksdb_plugin::OpenedDb* opened) {
    return rocksdb::DB::Open(options, path, {families.data(), families.data() + num_present},
                             &handles_, opened);
  });
  if (!status.ok()) return status;
  status = WriteSettings(db_.get(), settings);
  for (size_t i = num_present; status.ok() && i < families.size(); ++i) {
    handles_.push_back(nullptr);
    status = db_->CreateColumnFamily(families[i].options, families[i].name, &handles_.back());
  }
  return status;
}

// Callers that want the status call Close.
UrlSieve::~UrlSieve() { Close().PermitUncheckedError(); }

rocksdb::Status UrlSieve::Close() {
  if (db_ == nullptr) return rocksdb::Status::OK();
  rocksdb::Status status;
  // After a failed write to its log, RocksDB must not sync it: builds with assertions, like
  // Debian's, would abort.
  if (has_failed_) status = rocksdb::Status::Incomplete("sieve: closed after a failure");
  for (const auto& shard : shards_) {
    if (status.ok()) status = shard->Save();
  }
  if (status.ok()) status = db_->SyncWAL();
  for (rocksdb::ColumnFamilyHandle* const handle : handles_) {
    // Only a null handle is an error.
    db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
  rocksdb::Status closed = db_->Close();
  db_.reset();
  return status.ok() ? closed : status;
}

rocksdb::Status UrlSieve::RecordFailure(rocksdb::Status status) {
  if (status.IsIOError()) has_failed_ = true;
  return status;
}

std::vector<std::vector<ShardUrl>> UrlSieve::GroupByShard(
    std::span<const std::string_view> urls) const {
  std::vector<std::vector<ShardUrl>> by_shard(shards_.size());
  for (auto& part : by_shard) part.reserve(urls.size() / shards_.size() + 64);
  for (size_t i = 0; i < urls.size(); ++i) {
    const uint64_t hash = HashKey(urls[i], kSieveSeed);
    const unsigned __int128 product = static_cast<unsigned __int128>(hash) * shards_.size();
    by_shard[static_cast<size_t>(product >> 64)].push_back({urls[i], hash, i});
  }
  return by_shard;
}

rocksdb::Status UrlSieve::ForEachShardInParallel(
    const std::function<rocksdb::Status(size_t shard)>& action) const {
  std::vector<rocksdb::Status> statuses(shards_.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t shard; (shard = next++) < shards_.size();) {
      try {
        statuses[shard] = action(shard);
      } catch (const std::bad_alloc&) {  // nothing above a helper thread catches it
        statuses[shard] = rocksdb::Status::MemoryLimit("sieve: out of memory in a shard");
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (size_t i = 1; i < std::min(NumThreads(), shards_.size()); ++i) helpers.emplace_back(work);
    work();
  }
  const auto failed =
      std::find_if(statuses.begin(), statuses.end(), [](const auto& s) { return !s.ok(); });
  return failed == statuses.end() ? rocksdb::Status::OK() : *failed;
}

rocksdb::Status UrlSieve::Push(std::span<const std::string_view> urls, UrlCounts* counts) {
  const std::vector<std::vector<ShardUrl>> by_shard = GroupByShard(urls);
  const Queue::Reservation positions(queue_.get(), urls.size());
  std::atomic<uint64_t> total_new = 0;
  rocksdb::Status status = ForEachShardInParallel([&](size_t shard) {
    if (by_shard[shard].empty()) return rocksdb::Status::OK();
    uint64_t num_new = 0;
    rocksdb::Status pushed = shards_[shard]->Push(by_shard[shard], positions.first(), &num_new);
    total_new += num_new;
    return pushed;
  });
  if (!RecordFailure(status).ok()) return status;
  counts->new_urls += total_new;
  counts->known += urls.size() - total_new;
  return status;
}

rocksdb::Status UrlSieve::Pop(uint64_t max_urls,
                              const std::function<bool(std::span<const std::string>)>& take,
                              uint64_t* num_popped) {
  return RecordFailure(queue_->Pop(max_urls, take, num_popped));
}

rocksdb::Status UrlSieve::Forget(std::span<const std::string_view> urls, UrlCounts* counts) {
  const std::vector<std::vector<ShardUrl>> by_shard = GroupByShard(urls);
  // One after the other, because each blocks Pop.
  for (size_t shard = 0; shard < shards_.size(); ++shard) {
    uint64_t forgotten = 0;
    rocksdb::Status status = shards_[shard]->Forget(by_shard[shard], &forgotten);
    if (!RecordFailure(status).ok()) return status;
    counts->known += forgotten;
    counts->new_urls += by_shard[shard].size() - forgotten;
  }
  return rocksdb::Status::OK();
}

rocksdb::Status UrlSieve::Compact(std::atomic<bool>* canceled,
                                  const std::function<void(size_t done, size_t all)>& progress) {
  const size_t all = shards_.size() + 1;  // with the queue
  for (size_t i = 0; i < shards_.size(); ++i) {
    if (progress) progress(i, all);
    rocksdb::Status status = RecordFailure(shards_[i]->Compact(canceled));
    if (!status.ok()) return status;
  }
  if (progress) progress(shards_.size(), all);
  return RecordFailure(queue_->Compact(canceled));
}

rocksdb::Status UrlSieve::GetStats(SieveStats* stats) const {
  *stats = {};
  // Read before the shards: otherwise URLs popped in between would seem never to have been pushed.
  const uint64_t popped = queue_->num_popped();
  for (const auto& shard : shards_) {
    if (rocksdb::Status status = shard->AddTo(stats); !status.ok()) return status;
  }
  stats->queued -= popped;
  return rocksdb::Status::OK();
}

}  // namespace blocksieve::sieve
