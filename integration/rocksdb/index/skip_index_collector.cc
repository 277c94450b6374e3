// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/index/skip_index_collector.h"

#include <new>
#include <utility>

#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/entry_indexer.h"
#include "integration/rocksdb/sidecar/databases.h"

namespace blocksieve {
namespace rocksdb_plugin {
namespace {

/// Builds the skip index of one file while RocksDB writes it, and stores it in a sidecar or in
/// table properties. RocksDB only logs a collector's errors, and is not exception-safe, so this
/// returns no error and throws nothing: on a failure, such as short memory, the file gets no index,
/// and its properties and the log say why.
class SkipIndexCollector final : public rocksdb::TablePropertiesCollector {
 public:
  SkipIndexCollector(const SkipIndexSettings& settings, std::optional<SstPlace> sst,
                     std::shared_ptr<std::atomic<bool>> has_warned) noexcept
      : sst_(std::move(sst)), has_warned_(std::move(has_warned)) {
    settings_.info_log = settings.info_log;
    Try([&] {
      settings_ = settings;
      Result<EntryIndexer> indexer = EntryIndexer::Create(settings);
      if (!indexer.ok()) return Fail(indexer.status().message());
      indexer_ = *std::move(indexer);
    });
  }

  const char* Name() const override { return "blocksieve.SkipIndexCollector"; }

  // RocksDB passes the current end of the file, which moves when a block is written. From 7.8
  // to 11.9, tests show that a block is written before the first entry of the next one is added.
  // Otherwise granules would lie across two blocks each, and scans would read more.
  rocksdb::Status AddUserKey(const rocksdb::Slice& key, const rocksdb::Slice& value,
                             rocksdb::EntryType type, rocksdb::SequenceNumber sequence,
                             uint64_t file_offset) override {
    if (indexer_) {
      indexer_->Add({.key = key.ToStringView(),
                     .value = value.ToStringView(),
                     .type = ToEntryValue(type),
                     .sequence = sequence,
                     .block = file_offset});
    }
    return rocksdb::Status::OK();
  }

  /// Returns the same properties again if called again, as RocksDB before 8.8.2 does.
  rocksdb::Status Finish(rocksdb::UserCollectedProperties* properties) override {
    const bool is_complete = Try([&] {
      if (!std::exchange(is_finished_, true)) Build();
      for (const auto& [name, text] : readable_) (*properties)[name] = text;
      if (!problem_.empty()) (*properties)[kProblemProperty] = problem_;
      if (!index_.empty()) (*properties)[kIndexProperty] = index_;
    });
    if (!is_complete) {
      // Without the index, the other properties mean "no index". Erasing by name would allocate.
      std::erase_if(*properties,
                    [](const auto& property) { return property.first == kIndexProperty; });
    }
    return rocksdb::Status::OK();
  }

  /// All properties but the index.
  rocksdb::UserCollectedProperties GetReadableProperties() const override try {
    rocksdb::UserCollectedProperties properties = readable_;
    if (!problem_.empty()) properties[kProblemProperty] = problem_;
    return properties;
  } catch (const std::bad_alloc&) {
    return {};
  }

 private:
  void Build() {
    readable_[kIdentityProperty] = IdentityText(settings_);
    if (!indexer_) return;
    Result<FinishedSkipIndex> index = indexer_->Finish();
    const uint64_t needed =
        indexer_->LogLeftOut(sst_ ? BaseName(sst_->path) : std::string("a file"), index);
    if (needed != 0) readable_[kNeededProperty] = std::to_string(needed);
    if (!index.ok()) return Fail(index.status().message());
    if (!PutIntoSidecar(index->bytes)) index_ = std::move(index->bytes);
  }

  /// False if the index stays in the properties.
  bool PutIntoSidecar(const std::string& index) {
    if (index.size() <= settings_.max_property_bytes) return false;
    if (!sst_) {
      if (has_warned_ != nullptr && !has_warned_->exchange(true)) {
        LogLoudly(settings_.info_log.get(),
                  "skip indexes above max_property_bytes=" +
                      std::to_string(settings_.max_property_bytes) +
                      " stay in the table properties, which take memory for every open file; add "
                      "blocksieve::NewListener() to DBOptions::listeners");
      }
      return false;
    }
    SidecarHeader header;
    header.id = NewSidecarId();
    header.value_suffix_bytes = settings_.value_suffix_bytes;
    header.index_bytes = index.size();
    // A new SST has none yet: what is there belongs to another one.
    const rocksdb::Status status =
        sst_->file_system->FileExists(SidecarPath(sst_->path), rocksdb::IOOptions(), nullptr).ok()
            ? rocksdb::Status::Busy("it exists")
            : WriteSidecar(*sst_, header, index);
    if (status.ok()) {
      readable_[kSidecarProperty] = ToHex(header.id);
    } else {
      LogLoudly(settings_.info_log.get(),
                "sidecar " + SidecarPath(sst_->path) +
                    " cannot be written, so the skip index stays in the table "
                    "properties: " +
                    status.ToString());
    }
    return status.ok();
  }

  /// False if `work` threw, so that the file gets no index.
  template <class Work>
  bool Try(const Work& work) noexcept {
    try {
      work();
      return true;
    } catch (const std::exception&) {
      index_.clear();
      Fail("out of memory");  // short enough for a string without allocation
      return false;
    }
  }

  void Fail(std::string_view problem) {
    indexer_.reset();
    problem_ = problem;
    LogLoudly(settings_.info_log.get(),
              "no skip index written for a file, so scans read it as a whole; reason: ", problem_);
  }

  const std::optional<SstPlace> sst_;
  const std::shared_ptr<std::atomic<bool>> has_warned_;
  SkipIndexSettings settings_;
  std::optional<EntryIndexer> indexer_;  // nothing after a problem
  bool is_finished_ = false;
  std::string problem_;
  std::string index_;  // empty if it is missing or in a sidecar
  rocksdb::UserCollectedProperties readable_;
};

}  // namespace

std::unique_ptr<rocksdb::TablePropertiesCollector> NewSkipIndexCollector(
    const SkipIndexSettings& settings, std::optional<SstPlace> sst,
    std::shared_ptr<std::atomic<bool>> has_warned) {
  return std::make_unique<SkipIndexCollector>(settings, std::move(sst), std::move(has_warned));
}

const char SkipIndexCollectorFactory::kName[] = "blocksieve.skip_index";

SkipIndexCollectorFactory::SkipIndexCollectorFactory(SkipIndexSettings settings)
    : settings_(std::move(settings)) {
  RegisterOptions("BlocksieveSkipIndexOptions", &settings_, &SkipIndexOptionTable().types());
}

std::string SkipIndexCollectorFactory::ToString() const {
  std::string text = kName;
  text += ' ';
  for (const char c : IdentityText(settings_)) text += c == '\n' ? ' ' : c;
  return text;
}

rocksdb::Status SkipIndexCollectorFactory::PrepareOptions(const rocksdb::ConfigOptions& options) {
  rocksdb::Status status = ToRocksStatus(SkipIndexBuilder::Create(settings_.index).status());
  // When RocksDB reads an OPTIONS file, it silently drops the factory.
  if (!status.ok()) {
    LogLoudly(settings_.info_log.get(),
              "no skip indexes for new files; reason: ", ToMessage(status));
  }
  return status.ok() ? TablePropertiesCollectorFactory::PrepareOptions(options) : status;
}

rocksdb::TablePropertiesCollector* SkipIndexCollectorFactory::CreateTablePropertiesCollector(
    Context context) {
  // Never null, which RocksDB 7.8 would dereference. If memory is short, the collector builds
  // nothing, or this throws, as RocksDB does when it wraps the collector.
  StartedSst sst = TakeStartedSst(context.column_family_id, context.level_at_creation);
  const bool is_of_database = context.level_at_creation >= 0;
  return NewSkipIndexCollector(settings_, std::move(sst.place),
                               is_of_database && !sst.has_listener ? has_warned_ : nullptr)
      .release();
}

rocksdb::Status FindIndexOptions(const rocksdb::ColumnFamilyOptions& options,
                                 SkipIndexSettings* settings) {
  int num_indexes = 0;
  for (const auto& factory : options.table_properties_collector_factories) {
    const auto* const ours = As<SkipIndexCollectorFactory>(factory.get());
    if (ours == nullptr) continue;
    ++num_indexes;
    *settings = ours->settings();
  }
  if (num_indexes == 1) return rocksdb::Status::OK();
  return rocksdb::Status::InvalidArgument(
      "blocksieve: number of skip indexes in the column family's options is " +
      std::to_string(num_indexes) + "; allowed: 1, set by the same version of blocksieve (Enable)");
}

}  // namespace rocksdb_plugin

}  // namespace blocksieve
