#include "integration/cli/database/table/opened_table.h"

#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/iterator.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <cstdarg>
#include <string_view>
#include <utility>

#include "integration/cli/term/terminal.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::cli {
namespace {

bool HasProperty(const rocksdb::TableProperties& properties, const char* name) {
  return rocksdb_plugin::FindProperty(properties.user_collected_properties, name) == "1";
}

/// Merges anything to an empty value, so that tables with any merge operator can be read.
class MergeToNothing final : public rocksdb::MergeOperator {
 public:
  const char* Name() const override { return "blocksieve.merge_to_nothing"; }
  bool FullMergeV2(const MergeOperationInput&, MergeOperationOutput* merged) const override {
    merged->new_value.clear();
    return true;
  }
};

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

std::string LastTime(const rocksdb::Comparator& comparator) {
  return std::string(comparator.timestamp_size(), '\xff');
}

OpenedTable::OpenedTable(const std::string& path, const rocksdb::Comparator* comparator)
    : path(path), format(rocksdb_plugin::TableFormatOf(path)) {
  options_.merge_operator = std::make_shared<MergeToNothing>();
  options_.info_log = std::make_shared<ObsoleteFilterLog>(&has_obsolete_filter);
  options_.allow_mmap_reads = !is_block_based();  // a CuckooTable requires it
  if (comparator != nullptr) options_.comparator = comparator;
  TryOpen();
  const std::string name = shared_properties->comparator_name;
  // RocksDB aborts, or loses keys, if it reads them in a wrong order.
  if (!is_block_based()) {
    why_no_keys = "the table format is " + format;
  } else if (name.empty() && comparator == nullptr) {
    why_no_keys = "the file does not name its comparator";
  } else if (!name.empty() && name != options_.comparator->Name()) {
    const auto made =
        rocksdb::Comparator::CreateFromString(rocksdb_plugin::Strict(), name, &options_.comparator);
    if (!made.ok() || options_.comparator == nullptr) {
      why_no_keys = "this command does not have the comparator " + name;
      options_.comparator = rocksdb::BytewiseComparator();
    }
    TryOpen();
  }
  if (rocksdb_plugin::LacksItsTimestamps(*shared_properties)) {
    options_.comparator = options_.comparator->GetRootComparator();
    TryOpen();
  }
  // Only the program may have the prefix extractor.
  const rocksdb::Status status = rocksdb::SliceTransform::CreateFromString(
      rocksdb_plugin::Strict(), shared_properties->prefix_extractor_name,
      &options_.prefix_extractor);
  if (!status.ok()) options_.prefix_extractor = nullptr;
  has_whole_keys = HasProperty(*shared_properties, "rocksdb.block.based.table.whole.key.filtering");
  has_prefixes = HasProperty(*shared_properties, "rocksdb.block.based.table.prefix.filtering");
}

void OpenedTable::TryOpen() {
  filters_ = rocksdb_plugin::CapturedFilters();
  const bool can_capture = rocksdb_plugin::LoadedAbiProblem().empty();
  rocksdb::Status status = TryOpenWith(can_capture ? filters_.policy() : nullptr);
  if (!status.ok() && TryOpenWith(nullptr).ok()) {
    filters_ = rocksdb_plugin::CapturedFilters();
    filter_damage = status.ToString();
    status = rocksdb::Status::OK();
  }
  if (!status.ok()) {
    const std::string problem =
        format.empty() && status.IsCorruption()
            ? "it is incomplete, damaged or no SST: its end names no table format that is known"
            : status.ToString();
    const bool is_newer = problem.find("format_version") != std::string::npos;
    term::Fail("cannot open {}: {}{}", path, problem,
               is_newer ? "; this command has RocksDB " + rocksdb::GetRocksVersionAsString() +
                              "; use one with the RocksDB that wrote the file"
                        : "");
  }
  shared_properties = reader_->GetTableProperties();
  if (shared_properties != nullptr) return;
  // RocksDB also opens tables whose properties are damaged.
  term::CheckOk(reader_->VerifyChecksum(), "cannot open {}", path);
  shared_properties = rocksdb_plugin::NoProperties();
}

rocksdb::Status OpenedTable::TryOpenWith(std::shared_ptr<const rocksdb::FilterPolicy> policy) {
  options_.table_factory = rocksdb_plugin::TablesWith(std::move(policy));
  if (!is_block_based()) {
    // Without its prefix extractor, a PlainTable can only be scanned.
    const std::shared_ptr<rocksdb::TableFactory> plain(
        rocksdb::NewPlainTableFactory({.full_scan_mode = true}));
    options_.table_factory.reset(rocksdb::NewAdaptiveTableFactory(nullptr, nullptr, plain));
  }
  reader_ = std::make_unique<rocksdb::SstFileReader>(options_);
  return reader_->Open(path);
}

rocksdb::Options OpenedTable::OptionsWith(
    std::shared_ptr<const rocksdb::FilterPolicy> policy) const {
  rocksdb::Options options = options_;
  options.table_factory = rocksdb_plugin::TablesWith(std::move(policy));
  return options;
}

std::string OpenedTable::ForEachKey(const std::function<void(const rocksdb::Slice& key)>& visit) {
  if (!why_no_keys.empty()) return "keys were not checked: " + why_no_keys;
  constexpr size_t kSequenceAndTypeBytes = 8;
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.total_order_seek = true;
  // RocksDB's iterators for user-defined timestamps return all versions since a time, with deletes.
  // With the empty time of keys without timestamps, that is every entry, except that they do not
  // return raw merge operands. The number of entries shows whether all were visited.
  const bool sees_all = shared_properties->num_merge_operands == 0;
  const std::string first_time(options_.comparator->timestamp_size(), '\0');
  const std::string last_time = LastTime(*options_.comparator);
  const rocksdb::Slice since = first_time;
  const rocksdb::Slice until = last_time;
  size_t suffix_bytes = 0;
  if (!last_time.empty()) options.timestamp = &until;
  if (sees_all) {
    options.iter_start_ts = &since;
    suffix_bytes = kSequenceAndTypeBytes + options_.comparator->timestamp_size();
  }
  const std::unique_ptr<rocksdb::Iterator> entry(reader_->NewIterator(options));
  uint64_t num_seen = 0;
  for (entry->SeekToFirst(); entry->Valid(); entry->Next()) {
    rocksdb::Slice key = entry->key();
    if (key.size() < suffix_bytes)
      term::Fail("a key has {} bytes; allowed: at least {}", key.size(), suffix_bytes);
    key.remove_suffix(suffix_bytes);
    visit(key);
    ++num_seen;
  }
  const uint64_t num_entries =
      shared_properties->num_entries - shared_properties->num_range_deletions;
  const std::string share = fmt::format(
      "{} of {} entries were checked: ", term::WithCommas(num_seen), term::WithCommas(num_entries));
  if (entry->status().IsNotSupported()) return share + entry->status().ToString();
  term::CheckOk(entry->status(), "cannot read the file after {}", term::CountOf(num_seen, "key"));
  if (num_seen == num_entries || rocksdb_plugin::LacksProperties(*shared_properties)) return "";
  return share + "RocksDB hides deletes and older versions in files with merge operands";
}

rocksdb::Iterator& OpenedTable::probe() {
  if (probe_ == nullptr) {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    options.total_order_seek = true;
    last_time_ = LastTime(*options_.comparator);
    until_ = last_time_;
    if (!last_time_.empty()) options.timestamp = &until_;
    probe_.reset(reader_->NewIterator(options));
  }
  return *probe_;
}

}  // namespace blocksieve::cli
