#pragma once

#include <rocksdb/table_properties.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/rocksdb/skip_index.h"
#include "blocksieve/skip_index.h"
#include "integration/rocksdb/sidecar/file.h"

namespace blocksieve::rocksdb_plugin {

/// Builds the skip index of one file from what RocksDB writes into it, and hands it over in a
/// sidecar or as table properties. RocksDB only logs the errors of a collector, and is not
/// exception-safe, so this reports no error and throws nothing: if something goes wrong, such as
/// memory running out, the file gets no index, and its properties and the log say why.
class SkipIndexCollector final : public rocksdb::TablePropertiesCollector {
 public:
  /// `sst`: where it is being written, if that is known. If an index is to go into a sidecar, and
  /// cannot for want of a listener, `has_warned` becomes true, and the log says so if it was not;
  /// null: it is no database that writes.
  SkipIndexCollector(const SkipIndexOptions& options, std::optional<SstPlace> sst,
                     std::shared_ptr<std::atomic<bool>> has_warned) noexcept;

  const char* Name() const override { return "blocksieve.SkipIndexCollector"; }

  rocksdb::Status AddUserKey(const rocksdb::Slice& key, const rocksdb::Slice& value,
                             rocksdb::EntryType type, rocksdb::SequenceNumber sequence,
                             uint64_t file_size) override;

  /// Before RocksDB 8.8.2 called twice or more per file: gives the same again.
  rocksdb::Status Finish(rocksdb::UserCollectedProperties* properties) override;

  /// All but the index.
  rocksdb::UserCollectedProperties GetReadableProperties() const override;

 private:
  void FollowBlocks(uint64_t file_offset);
  void Build();
  /// False if something was left out for max_index_bytes.
  bool DescribeIndex(const std::string& index);
  /// False if it is to stay in the properties, or has to.
  bool PutIntoSidecar(const std::string& index);
  void Fail(std::string_view what, std::string_view reason = {}) noexcept;

  const std::shared_ptr<rocksdb::Logger> info_log_;
  const std::optional<SstPlace> sst_;
  const std::shared_ptr<std::atomic<bool>> has_warned_;
  SkipIndexOptions options_;
  std::optional<SkipIndexBuilder> builder_;
  bool follows_blocks_ = false;
  uint64_t file_offset_ = 0;    // behind the last block that was written
  uint64_t block_entries_ = 0;  // since then
  uint64_t block_bytes_ = 0;
  bool is_finished_ = false;
  std::string problem_;
  std::string index_;  // empty if there is none, or in a sidecar
  rocksdb::UserCollectedProperties readable_;
};

/// Options are set before it is used, by the constructor or RocksDB's option machinery, and not
/// changed afterwards.
class SkipIndexCollectorFactory final : public rocksdb::TablePropertiesCollectorFactory {
 public:
  /// Also the id in option strings.
  static const char kName[];

  explicit SkipIndexCollectorFactory(SkipIndexOptions options);

  const char* Name() const override { return kName; }
  std::string ToString() const override;

  /// Errors: those of ValidateSkipIndexOptions, which are logged, too.
  rocksdb::Status PrepareOptions(const rocksdb::ConfigOptions& options) override;

  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context context) override;

  const SkipIndexOptions& options() const { return options_; }

 private:
  SkipIndexOptions options_;
  // Whether it was said that there is no listener; shared with the collectors.
  const std::shared_ptr<std::atomic<bool>> has_warned_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace blocksieve::rocksdb_plugin
