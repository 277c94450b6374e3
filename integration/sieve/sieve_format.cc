#include "integration/sieve/sieve_format.h"

#include <filesystem>
#include <memory>
#include <system_error>

#include "integration/rocksdb/compat/guarded_file_system.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "lib/base/coding.h"

namespace blocksieve::sieve {
namespace {

constexpr uint64_t ShardRecord::*kFields[] = {
    &ShardRecord::seen,
    &ShardRecord::enqueued,
    &ShardRecord::withdrawn,
    &ShardRecord::new_by_counting_filter,
    &ShardRecord::new_by_file_filters,
    &ShardRecord::new_by_reading,
    &ShardRecord::repeats,
    &ShardRecord::design_urls,
};

namespace fs = std::filesystem;

constexpr char kVersion = 1;
constexpr uint32_t kDefaultShards = 4;
constexpr uint32_t kMaxShards = 64;
constexpr uint64_t kDefaultDesignUrls = 65'536;
constexpr uint64_t kMaxDesignUrls = 10'000'000'000;

rocksdb::Status OutOfRange(const char* name, uint64_t value, uint64_t highest) {
  return rocksdb::Status::InvalidArgument(std::string(name) + " is " + std::to_string(value) +
                                          "; allowed: 1 to " + std::to_string(highest));
}

std::string Encode(const SieveOptions& settings) {
  std::string text(1, kVersion);
  AppendVarint(&text, settings.num_shards);
  AppendVarint(&text, settings.design_urls);
  return text;
}

rocksdb::Status Decode(const std::string& text, SieveOptions* settings) {
  Decoder decoder(AsBytes(text));
  const auto version = decoder.Fixed<uint8_t>();
  if (version != kVersion) {
    return rocksdb::Status::NotSupported("the sieve has format version " + std::to_string(version) +
                                         "; this program reads 1");
  }
  const uint64_t num_shards = decoder.Varint();
  settings->num_shards = static_cast<uint32_t>(num_shards);
  settings->design_urls = decoder.Varint();
  if (!decoder.ok() || num_shards < 1 || num_shards > kMaxShards) {
    return rocksdb::Status::Corruption("sieve: damaged settings");
  }
  return rocksdb::Status::OK();
}

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

/// Reads the settings. NotFound if there is no database, or an empty one after an interrupted
/// creation.
rocksdb::Status ReadStored(const std::string& path, SieveOptions* settings) {
  std::error_code error;
  const bool exists = fs::exists(path + "/CURRENT", error);
  if (error) return rocksdb::Status::IOError("cannot be read", error.message());
  if (!exists) return CheckFree(path);
  // The database may be another program's.
  rocksdb::Options options;
  const auto env = rocksdb::NewCompositeEnv(rocksdb_plugin::NewGuardedFileSystem({}));
  options.env = env.get();
  std::unique_ptr<rocksdb::DB> db;
  rocksdb::Status status = rocksdb_plugin::OpenDb(&db, [&](rocksdb_plugin::OpenedDb* opened) {
    return rocksdb::DB::OpenForReadOnly(options, path, opened);
  });
  if (!status.ok()) return status;
  std::string text;
  status = db->Get(rocksdb::ReadOptions(), kSettingsKey, &text);
  if (status.ok()) return Decode(text, settings);
  if (!status.IsNotFound()) return status;
  const std::unique_ptr<rocksdb::Iterator> any(db->NewIterator(rocksdb::ReadOptions()));
  any->SeekToFirst();
  if (any->Valid()) return rocksdb::Status::InvalidArgument("the database is not a sieve");
  return status;
}

}  // namespace

std::string ShardRecord::Encode() const {
  std::string text;
  for (const auto field : kFields) AppendVarint(&text, this->*field);
  return text;
}

std::optional<ShardRecord> ShardRecord::Decode(std::string_view text) {
  Decoder decoder(AsBytes(text));
  ShardRecord record;
  for (const auto field : kFields) record.*field = decoder.Varint();
  if (!decoder.ok() || !decoder.rest().empty()) return std::nullopt;
  return record;
}

rocksdb::Status ReadSettings(const std::string& path, SieveOptions* options) {
  if (options->num_shards > kMaxShards) {
    return OutOfRange("num_shards", options->num_shards, kMaxShards);
  }
  if (options->design_urls > kMaxDesignUrls) {
    return OutOfRange("design_urls", options->design_urls, kMaxDesignUrls);
  }
  const uint32_t num_shards = options->num_shards;
  rocksdb::Status status = ReadStored(path, options);
  if (status.IsNotFound() && !options->create_if_missing) {
    std::error_code error;
    return rocksdb::Status::NotFound(fs::exists(path, error) ? "it is not a sieve"
                                                             : "there is no such sieve");
  }
  if (status.IsNotFound()) {
    if (num_shards == 0) options->num_shards = kDefaultShards;
    if (options->design_urls == 0) options->design_urls = kDefaultDesignUrls;
    return rocksdb::Status::OK();
  }
  if (status.ok() && num_shards != 0 && num_shards != options->num_shards) {
    return rocksdb::Status::InvalidArgument("num_shards is " + std::to_string(num_shards) +
                                            "; allowed: " + std::to_string(options->num_shards) +
                                            ", with which the sieve was created");
  }
  return status;
}

rocksdb::Status WriteSettings(rocksdb::DB* db, const SieveOptions& options) {
  std::string text;
  rocksdb::Status status = db->Get(rocksdb::ReadOptions(), kSettingsKey, &text);
  if (status.ok()) {
    SieveOptions present;
    status = Decode(text, &present);
    if (!status.ok() || Encode(present) == Encode(options)) return status;
    return rocksdb::Status::Aborted(
        "another process has created the sieve with other settings; open it again");
  }
  if (!status.IsNotFound()) return status;
  rocksdb::WriteOptions durable;
  durable.sync = true;
  return db->Put(durable, kSettingsKey, Encode(options));
}

}  // namespace blocksieve::sieve
