#pragma once

#include <rocksdb/table_properties.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "blocksieve/rocksdb/skip_index.h"
#include "blocksieve/skip_index.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/sidecar/file.h"

namespace blocksieve::rocksdb_plugin {

/// Builds the skip index of one file while RocksDB writes it, and stores it in a sidecar or in
/// table properties. RocksDB only logs a collector's errors, and is not exception-safe, so this
/// returns no error and throws nothing: on a failure, such as short memory, the file gets no index,
/// and its properties and the log say why.
class SkipIndexCollector final : public rocksdb::TablePropertiesCollector {
 public:
  /// `sst`: where the file is being written, if known; without it no sidecar can be written. The
  /// first index that is too large for the properties then sets `*has_warned` and logs a warning.
  /// Null: no warning, as the writer is not a DB.
  SkipIndexCollector(const SkipIndexSettings& settings, std::optional<SstPlace> sst,
                     std::shared_ptr<std::atomic<bool>> has_warned) noexcept;

  const char* Name() const override { return "blocksieve.SkipIndexCollector"; }

  rocksdb::Status AddUserKey(const rocksdb::Slice& key, const rocksdb::Slice& value,
                             rocksdb::EntryType type, rocksdb::SequenceNumber sequence,
                             uint64_t file_size) override;

  /// Returns the same properties again if called again, as RocksDB before 8.8.2 does.
  rocksdb::Status Finish(rocksdb::UserCollectedProperties* properties) override;

  /// All properties but the index.
  rocksdb::UserCollectedProperties GetReadableProperties() const override;

 private:
  void FollowBlocks(uint64_t file_offset);
  void Build();
  /// False if a part was left out because of max_index_bytes.
  bool DescribeIndex(const FinishedSkipIndex& index);
  void ReportLeftOut(const IndexColumnInfo& column);
  /// False if the index stays in the properties.
  bool PutIntoSidecar(const std::string& index);
  void Fail(std::string_view what, std::string_view reason = {}) noexcept;

  const std::optional<SstPlace> sst_;
  const std::shared_ptr<std::atomic<bool>> has_warned_;
  SkipIndexSettings settings_;
  std::optional<SkipIndexBuilder> builder_;
  bool follows_blocks_ = false;
  uint64_t file_offset_ = 0;    // end of the last block written
  uint64_t block_entries_ = 0;  // entries added since
  uint64_t block_bytes_ = 0;
  bool is_finished_ = false;
  std::string problem_;
  std::string index_;  // empty if it is missing or in a sidecar
  rocksdb::UserCollectedProperties readable_;
};

/// The constructor or RocksDB's option machinery sets its options before it is used.
class SkipIndexCollectorFactory final : public rocksdb::TablePropertiesCollectorFactory {
 public:
  /// Its id in option strings.
  static const char kName[];

  explicit SkipIndexCollectorFactory(SkipIndexSettings settings);

  const char* Name() const override { return kName; }
  std::string ToString() const override;

  /// Logs and returns the errors of SkipIndexBuilder::Create.
  rocksdb::Status PrepareOptions(const rocksdb::ConfigOptions& options) override;

  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context context) override;

  const SkipIndexSettings& settings() const { return settings_; }

 private:
  SkipIndexSettings settings_;
  // Whether the missing listener was reported; shared with the collectors.
  const std::shared_ptr<std::atomic<bool>> has_warned_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace blocksieve::rocksdb_plugin
