// SPDX-License-Identifier: Apache-2.0
#include "integration/sieve/url_sieve.h"

#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <new>
#include <system_error>
#include <thread>

#include "blocksieve/hash.h"
#include "blocksieve/rocksdb/enable.h"
#include "integration/files/files.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/sieve/sieve_format.h"
#include "lib/base/errors.h"

namespace blocksieve::sieve {
namespace {

namespace fs = std::filesystem;
constexpr const char* kVersion = "1";

/// Returns NotFound if a database can be created at `path`, even after an interrupted creation.
rocksdb::Status CheckFree(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error) && !error) return rocksdb::Status::NotFound();
  if (!fs::is_directory(path, error)) {
    return rocksdb::Status::InvalidArgument(path.string() + " is not a directory");
  }
  for (const fs::directory_entry& file : fs::directory_iterator(path, error)) {
    const fs::path type = file.path().extension();
    if (type == ".sst" || type == ".log") {
      return rocksdb::Status::Corruption(path.string() + " has " + file.path().filename().string() +
                                         " of a database, but no CURRENT");
    }
  }
  if (error) return rocksdb::Status::IOError("cannot be read", error.message());
  return rocksdb::Status::NotFound();
}

/// NotFound if there is no database, or an empty one after an interrupted creation.
rocksdb::Status CheckStored(const std::string& path) {
  std::error_code error;
  const bool exists = fs::exists(path + "/CURRENT", error);
  if (error) return rocksdb::Status::IOError("cannot be read", error.message());
  if (!exists) return CheckFree(path);
  // The database may be another program's.
  rocksdb::Options options;
  const auto env = rocksdb::NewCompositeEnv(files::NewGuardedFileSystem({}));
  options.env = env.get();
  std::unique_ptr<rocksdb::DB> db;
  BLOCKSIEVE_RETURN_IF_ERROR(rocksdb_plugin::OpenDb(&db, [&](rocksdb_plugin::OpenedDb* opened) {
    return rocksdb::DB::OpenForReadOnly(options, path, opened);
  }));
  std::string version;
  rocksdb::Status status = db->Get(rocksdb::ReadOptions(), kVersionKey, &version);
  if (status.ok() && version != kVersion) {
    return rocksdb::Status::NotSupported("the sieve has format version " + version +
                                         "; this program reads " + kVersion);
  }
  if (!status.IsNotFound()) return status;
  const std::unique_ptr<rocksdb::Iterator> any(db->NewIterator(rocksdb::ReadOptions()));
  any->SeekToFirst();
  if (any->Valid()) return rocksdb::Status::InvalidArgument("the database is not a sieve");
  return status;
}

using rocksdb::ColumnFamilyDescriptor;
using rocksdb::ColumnFamilyOptions;

constexpr uint64_t kDefaultDesignUrls = 65'536;
constexpr double kMaxDesignUrls = 1e10;
constexpr size_t kWriteBufferBytes = 32 << 20;
constexpr size_t kBlockCacheBytes = 64 << 20;

constexpr double kLastLevelFpr = 0.0135;
constexpr double kUpperLevelsFpr = 0.001;

std::shared_ptr<const rocksdb::FilterPolicy> NewRibbon(double target_fpr) {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status =
      NewFilterPolicy({.target_fpr = target_fpr, .kind = FilterKind::kRibbon}, &policy);
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
  BLOCKSIEVE_RETURN_IF_ERROR(rocksdb_plugin::ToRocksStatus(internal::CheckRange(
      "design_urls", static_cast<double>(options.design_urls), 0, kMaxDesignUrls)));
  rocksdb::Status stored = CheckStored(path);
  if (!stored.ok() && !stored.IsNotFound()) return stored;
  if (stored.IsNotFound() && !options.create_if_missing) {
    std::error_code error;
    return rocksdb::Status::NotFound(fs::exists(path, error) ? "it is not a sieve"
                                                             : "there is no such sieve");
  }
  BLOCKSIEVE_RETURN_IF_ERROR(files::CreateNamedDirectory(path));
  env_ = files::EnvOfDirectory(path);
  rocksdb::DBOptions db_options;
  db_options.env = env_.get();
  db_options.create_if_missing = true;
  db_options.info_log = files::NewFullDiskLog(path);
  db_options.max_background_jobs =
      std::max(2, static_cast<int>(std::thread::hardware_concurrency()));
  const auto cache = rocksdb::NewLRUCache(kBlockCacheBytes);
  std::vector<ColumnFamilyDescriptor> families{
      {rocksdb::kDefaultColumnFamilyName, ColumnFamilyOptions()}, {kQueueFamily, QueueOptions()}};
  for (size_t i = 0; i < kNumShards; ++i) families.emplace_back(SeenFamily(i), SeenOptions(cache));
  BLOCKSIEVE_RETURN_IF_ERROR(OpenFamilies(path, db_options, families, stored.IsNotFound()));

  queue_ = std::make_unique<Queue>(db_.get(), handles_[1]);
  BLOCKSIEVE_RETURN_IF_ERROR(queue_->Load());
  for (size_t i = 0; i < kNumShards; ++i) {
    shards_.push_back(std::make_unique<Shard>(db_.get(), handles_[2 + i], queue_.get(), i));
  }
  const uint64_t all = options.design_urls == 0 ? kDefaultDesignUrls : options.design_urls;
  const uint64_t design_urls = std::max(uint64_t{1}, all / kNumShards);
  return ForEachShardInParallel([&](size_t shard) { return shards_[shard]->Load(design_urls); });
}

// Creates families that are missing in a new sieve, or after an interrupted creation.
rocksdb::Status UrlSieve::OpenFamilies(const std::string& path, const rocksdb::DBOptions& options,
                                       const std::vector<ColumnFamilyDescriptor>& families,
                                       bool is_new) {
  std::vector<std::string> present;
  const bool exists = rocksdb::DB::ListColumnFamilies(options, path, &present).ok();
  const size_t num_present = exists ? std::min(present.size(), families.size()) : 1;
  BLOCKSIEVE_RETURN_IF_ERROR(rocksdb_plugin::OpenDb(&db_, [&](rocksdb_plugin::OpenedDb* opened) {
    return rocksdb::DB::Open(options, path, {families.data(), families.data() + num_present},
                             &handles_, opened);
  }));
  if (is_new) {
    rocksdb::WriteOptions durable;
    durable.sync = true;
    BLOCKSIEVE_RETURN_IF_ERROR(db_->Put(durable, kVersionKey, kVersion));
  }
  for (size_t i = num_present; i < families.size(); ++i) {
    const auto& [name, family_options] = families[i];
    handles_.push_back(nullptr);
    BLOCKSIEVE_RETURN_IF_ERROR(db_->CreateColumnFamily(family_options, name, &handles_.back()));
  }
  return rocksdb::Status::OK();
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
  std::vector<std::future<rocksdb::Status>> results;
  for (size_t shard = 0; shard < shards_.size(); ++shard) {
    results.push_back(std::async(std::launch::async, action, shard));
  }
  rocksdb::Status first_error;
  for (auto& result : results) {
    rocksdb::Status status = result.get();
    if (first_error.ok()) first_error = status;
  }
  return first_error;
}

rocksdb::Status UrlSieve::Push(std::span<const std::string_view> urls, UrlCounts* counts) {
  const std::vector<std::vector<ShardUrl>> by_shard = GroupByShard(urls);
  const Queue::Reservation positions(queue_.get(), urls.size());
  std::atomic<uint64_t> total_new = 0;
  BLOCKSIEVE_RETURN_IF_ERROR(RecordFailure(ForEachShardInParallel([&](size_t shard) {
    if (by_shard[shard].empty()) return rocksdb::Status::OK();
    uint64_t num_new = 0;
    rocksdb::Status pushed = shards_[shard]->Push(by_shard[shard], positions.first(), &num_new);
    total_new += num_new;
    return pushed;
  })));
  counts->new_urls += total_new;
  counts->known += urls.size() - total_new;
  return rocksdb::Status::OK();
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
    BLOCKSIEVE_RETURN_IF_ERROR(RecordFailure(shards_[shard]->Forget(by_shard[shard], &forgotten)));
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
    BLOCKSIEVE_RETURN_IF_ERROR(RecordFailure(shards_[i]->Compact(canceled)));
  }
  if (progress) progress(shards_.size(), all);
  return RecordFailure(queue_->Compact(canceled));
}

rocksdb::Status UrlSieve::GetStats(SieveStats* stats) const {
  *stats = {};
  // Read before the shards: otherwise URLs popped in between would seem never to have been pushed.
  const uint64_t num_popped = queue_->num_popped();
  for (const auto& shard : shards_) {
    BLOCKSIEVE_RETURN_IF_ERROR(shard->AddTo(stats));
  }
  stats->queued = stats->enqueued - stats->withdrawn - num_popped;
  return rocksdb::Status::OK();
}

}  // namespace blocksieve::sieve
