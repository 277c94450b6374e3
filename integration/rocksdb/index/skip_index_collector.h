#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/options.h>
#include <rocksdb/table_properties.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/sidecar/file.h"

namespace blocksieve::rocksdb_plugin {

/// The collector of one file. `sst`: where the file is being written, if known; without it no
/// sidecar can be written. The first index that is too large for the properties then sets
/// `*has_warned` and logs a warning. Null: no warning, as the writer is not a DB.
std::unique_ptr<rocksdb::TablePropertiesCollector> NewSkipIndexCollector(
    const SkipIndexSettings& settings, std::optional<SstPlace> sst,
    std::shared_ptr<std::atomic<bool>> has_warned);

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

/// The options of the column family's one skip index. Errors: InvalidArgument unless it has one.
rocksdb::Status FindIndexOptions(const rocksdb::ColumnFamilyOptions& options,
                                 SkipIndexSettings* settings);

}  // namespace blocksieve::rocksdb_plugin
