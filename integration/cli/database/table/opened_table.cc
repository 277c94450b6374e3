#include "integration/cli/database/table/opened_table.h"

#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/iterator.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <cstdarg>
#include <string_view>
#include <utility>

#include "integration/cli/term/failure.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::cli {
namespace {

bool HasProperty(const rocksdb::TableProperties& properties, const char* name) {
  return rocksdb_plugin::FindProperty(properties.user_collected_properties, name) == "1";
}

/// Detects RocksDB's message about a filter per block, which versions before 7.0 wrote.
class ObsoleteFilterLog final : public rocksdb::Logger {
 public:
  explicit ObsoleteFilterLog(bool* found) : found_(found) {}

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list) override {
    if (std::string_view(format).find("obsolete filter type") != std::string_view::npos) {
      *found_ = true;
    }
  }

 private:
  bool* const found_;
};

}  // namespace

OpenedTable::OpenedTable(std::string path) : path_(std::move(path)) {
  options_.env = recorded_reads_.env();
  options_.merge_operator = AnyMergeOperator();
  options_.info_log = std::make_shared<ObsoleteFilterLog>(&has_obsolete_filter_);
  TryOpen();
  if (properties_->comparator_name != options_.comparator->Name()) {
    const rocksdb::Status status = rocksdb::Comparator::CreateFromString(
        {}, properties_->comparator_name, &options_.comparator);
    if (!status.ok() || options_.comparator == nullptr) {
      term::Fail("cannot open {}: this command does not have its comparator {}", path_,
                 properties_->comparator_name);
    }
    TryOpen();
  }
  if (rocksdb_plugin::LacksItsTimestamps(*properties_)) {
    options_.comparator = options_.comparator->GetRootComparator();
    TryOpen();
  }
  // Only the program may have the prefix extractor.
  rocksdb::ConfigOptions config;
  config.ignore_unsupported_options = false;
  const rocksdb::Status status = rocksdb::SliceTransform::CreateFromString(
      config, properties_->prefix_extractor_name, &options_.prefix_extractor);
  if (!status.ok()) options_.prefix_extractor = nullptr;
  has_whole_keys_ = HasProperty(*properties_, "rocksdb.block.based.table.whole.key.filtering");
  has_prefixes_ = HasProperty(*properties_, "rocksdb.block.based.table.prefix.filtering");
}

void OpenedTable::TryOpen() {
  filters_ = rocksdb_plugin::CapturedFilters();
  const bool can_capture = rocksdb_plugin::LoadedAbiProblem().empty();
  rocksdb::Status status = TryOpenWith(can_capture ? filters_.policy() : nullptr);
  if (!status.ok() && TryOpenWith(nullptr).ok()) {
    filters_ = rocksdb_plugin::CapturedFilters();
    filter_damage_ = status.ToString();
    status = rocksdb::Status::OK();
  }
  if (!status.ok()) {
    const std::string problem = status.ToString();
    const bool is_newer = problem.find("format_version") != std::string::npos;
    term::Fail("cannot open {}: {}{}", path_, problem,
               is_newer ? "; this command has RocksDB " + rocksdb::GetRocksVersionAsString() +
                              "; use one with the RocksDB that wrote the file"
                        : "");
  }
  properties_ = reader_->GetTableProperties();
}

rocksdb::Status OpenedTable::TryOpenWith(std::shared_ptr<const rocksdb::FilterPolicy> policy) {
  options_.table_factory = rocksdb_plugin::TablesWith(std::move(policy));
  reader_ = std::make_unique<rocksdb::SstFileReader>(options_);
  return reader_->Open(path_);
}

rocksdb::Options OpenedTable::OptionsWith(
    std::shared_ptr<const rocksdb::FilterPolicy> policy) const {
  rocksdb::Options options = options_;
  options.table_factory = rocksdb_plugin::TablesWith(std::move(policy));
  return options;
}

std::string OpenedTable::ForEachKey(const std::function<void(const rocksdb::Slice& key)>& visit) {
  return ForEveryEntry(reader_.get(), *properties_, *options_.comparator, visit);
}

rocksdb::Iterator& OpenedTable::probe() {
  if (probe_ == nullptr) {
    rocksdb::ReadOptions options;
    options.fill_cache = false;  // every seek must read its block, to record the offset
    options.total_order_seek = true;
    last_time_ = LastTime(*options_.comparator);
    until_ = last_time_;
    if (!last_time_.empty()) options.timestamp = &until_;
    probe_.reset(reader_->NewIterator(options));
  }
  return *probe_;
}

}  // namespace blocksieve::cli
