#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/iterator.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cstdarg>
#include <utility>

#include "blocksieve/filter_block.h"
#include "integration/cli/engine/table_file.h"
#include "integration/cli/rocksdb/captured_filters.h"
#include "integration/cli/rocksdb/filter_facts.h"
#include "integration/cli/rocksdb/rocksdb_engine.h"
#include "integration/cli/rocksdb/table_lookup.h"
#include "integration/cli/rocksdb/table_reading.h"
#include "integration/cli/term/failure.h"
#include "integration/rocksdb/compat/abi_guard.h"
#include "integration/rocksdb/compat/timestamps.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "integration/rocksdb/policy/range_self_test.h"
#include "integration/rocksdb/ranges/range_extractor.h"

namespace blocksieve::cli {
namespace {

using rocksdb_plugin::FileIndex;

bool HasProperty(const rocksdb::TableProperties& properties, const char* name) {
  return rocksdb_plugin::FindProperty(properties.user_collected_properties, name) == "1";
}

/// Notes that RocksDB says a file has a filter per block, as those before 7.0 wrote.
class ObsoleteFilterLog final : public rocksdb::Logger {
 public:
  explicit ObsoleteFilterLog(bool* said) : said_(said) {}

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list) override {
    if (std::string_view(format).find("obsolete filter type") != std::string_view::npos) {
      *said_ = true;
    }
  }

 private:
  bool* const said_;
};

// Filters are loaded when the table is opened, and held.
std::shared_ptr<rocksdb::TableFactory> TableFactoryWith(
    std::shared_ptr<const rocksdb::FilterPolicy> policy) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = std::move(policy);
  table.cache_index_and_filter_blocks = true;
  table.metadata_cache_options = {.top_level_index_pinning = rocksdb::PinningTier::kAll,
                                  .partition_pinning = rocksdb::PinningTier::kAll,
                                  .unpartitioned_pinning = rocksdb::PinningTier::kAll};
  table.block_cache = rocksdb::NewLRUCache(size_t{1} << 40, /*num_shard_bits=*/0);
  return std::shared_ptr<rocksdb::TableFactory>(rocksdb::NewBlockBasedTableFactory(table));
}

/// A table file. It names the comparator and prefix extractor with which it must be read.
class RocksDbFile final : public TableFile {
 public:
  RocksDbFile(const FilePlace& place, uint64_t num_bytes) {
    report_.place = place;
    report_.num_bytes = num_bytes;
    OpenTable();
    report_.num_entries = properties_->num_entries - properties_->num_range_deletions;
    ReportFilters();
    ReportIndex();
  }

  const FileReport& report() const override { return report_; }

  std::vector<std::string> FindDamage() override {
    std::vector<std::string> damage;
    const rocksdb::Status status = reader_->VerifyChecksum();
    if (!status.ok()) damage.push_back("checksums of blocks: " + status.ToString());
    for (const std::string& contents : filters_.contents()) {
      if (!DescribeFilterBlock(AsBytes(contents)).ok()) continue;  // stock, or in the report
      const Status valid = VerifyFilterBlock(AsBytes(contents));
      if (!valid.ok()) damage.push_back("a filter: " + valid.message());
    }
    return damage;
  }

  std::string ForEachKey(const KeyVisitor& visit) override {
    if (filters_.contents().size() > 1 &&
        !rocksdb::Env::Default()->FileExists(report_.place.path).ok()) {
      return "removed by another process before its filters could be asked";
    }
    std::string unseen =
        ForEveryEntry(reader_.get(), *properties_, *options_.comparator,
                      [&](const rocksdb::Slice& key) { visit(key.ToStringView(), Passes(key)); });
    if (has_prefixes_ && options_.prefix_extractor == nullptr) {
      return (unseen.empty() ? "" : unseen + "; ") + "prefixes were not checked: the extractor " +
             properties_->prefix_extractor_name + " is not known here";
    }
    return unseen;
  }

  bool MayMatch(std::string_view key) override {
    // Nothing is read for a key behind the last one of the file.
    return (has_whole_keys_ ? AskWholeKey(key) : AskPrefix(key)).value_or(false);
  }

  std::optional<bool> MayMatchRange(std::string_view begin, std::string_view end) override {
    const rocksdb::SliceTransform* const extractor = options_.prefix_extractor.get();
    if (report_.filter.num_range_filters == 0 || !rocksdb_plugin::IsRangeExtractor(extractor)) {
      return std::nullopt;
    }
    if (only_filter_ == nullptr) return AnswerOf(Lookup().Seek(begin, end));
    // As RocksDB does.
    const rocksdb::Slice prefix = extractor->Transform(begin);
    extractor->Transform(end);
    return only_filter_->MayMatch(prefix);
  }

  bool HasKeyIn(std::string_view begin, std::string_view end) override {
    rocksdb::Iterator& probe = Probe();
    probe.Seek(begin);
    return probe.Valid() && probe.key().ToStringView() < end;
  }

  std::optional<std::string> AbsentKey(std::string_view present, std::mt19937_64* random) override {
    if (has_whole_keys_) return RandomExtension(present, random);
    const rocksdb::SliceTransform* const extractor = options_.prefix_extractor.get();
    if (extractor == nullptr || !extractor->InDomain(present)) return std::nullopt;
    const std::string prefix = extractor->Transform(present).ToString();
    // As near as possible: only the last byte differs, or the last two, and so on.
    constexpr int kTriesPerWidth = 4;
    for (size_t i = 0; i < kTriesPerWidth * std::min(prefix.size(), sizeof(uint64_t)); ++i) {
      std::string key = prefix;
      for (size_t width = 0; width <= i / kTriesPerWidth; ++width) {
        key[key.size() - 1 - width] = static_cast<char>((*random)());
      }
      if (extractor->InDomain(key) && !HasPrefix(extractor->Transform(key))) return key;
    }
    return std::nullopt;
  }

  // Data blocks come first in a file.
  double ShareBefore(std::string_view key) override {
    rocksdb::Iterator& probe = Probe();
    probe.Seek(key);
    if (!probe.status().ok()) {
      term::Fail("cannot read {}: {}", report_.place.path, probe.status().ToString());
    }
    if (!probe.Valid() || properties_->data_size == 0) return 1;
    return std::min(1.0, static_cast<double>(noted_reads_.last_offset()) /
                             static_cast<double>(properties_->data_size));
  }

 private:
  void OpenTable() {
    options_.env = noted_reads_.env();
    options_.merge_operator = AnyMergeOperator();
    options_.info_log = std::make_shared<ObsoleteFilterLog>(&has_obsolete_filter_);
    TryOpen();
    if (properties_->comparator_name != options_.comparator->Name()) {
      const rocksdb::Status status = rocksdb::Comparator::CreateFromString(
          {}, properties_->comparator_name, &options_.comparator);
      if (!status.ok() || options_.comparator == nullptr) {
        term::Fail("{}: its comparator, {}, is not known here", report_.place.path,
                   properties_->comparator_name);
      }
      TryOpen();
    }
    if (rocksdb_plugin::LacksItsTimestamps(*properties_)) {
      options_.comparator = options_.comparator->GetRootComparator();
      TryOpen();
    }
    // The file may name an extractor that only its own program has.
    rocksdb::ConfigOptions config;
    config.ignore_unsupported_options = false;
    const rocksdb::Status status = rocksdb::SliceTransform::CreateFromString(
        config, properties_->prefix_extractor_name, &options_.prefix_extractor);
    if (!status.ok()) options_.prefix_extractor = nullptr;
    has_whole_keys_ = HasProperty(*properties_, "rocksdb.block.based.table.whole.key.filtering");
    has_prefixes_ = HasProperty(*properties_, "rocksdb.block.based.table.prefix.filtering");
  }

  void TryOpen() {
    filters_ = CapturedFilters();
    const bool can_capture = rocksdb_plugin::LoadedAbiProblem().empty();
    rocksdb::Status status = TryOpenWith(can_capture ? filters_.policy() : nullptr);
    if (!status.ok() && TryOpenWith(nullptr).ok()) {
      filters_ = CapturedFilters();
      filter_damage_ = status.ToString();
      status = rocksdb::Status::OK();
    }
    if (!status.ok()) term::Fail("cannot open {}: {}", report_.place.path, status.ToString());
    properties_ = reader_->GetTableProperties();
  }

  rocksdb::Status TryOpenWith(std::shared_ptr<const rocksdb::FilterPolicy> policy) {
    options_.table_factory = TableFactoryWith(std::move(policy));
    reader_ = std::make_unique<rocksdb::SstFileReader>(options_);
    return reader_->Open(report_.place.path);
  }

  // RocksDB passes over filters that it cannot read, and does not say why.
  void ExplainMissingFilters() {
    FilterReport& report = report_.filter;
    report.origin = FilterOrigin::kUnknown;
    report.note = has_obsolete_filter_ ? "a filter per block, which RocksDB no longer reads"
                                       : rocksdb_plugin::LoadedAbiProblem();
    if (!report.note.empty()) return;
    if (filter_damage_.empty()) {
      const rocksdb::Status status = reader_->VerifyChecksum();
      if (!status.ok()) filter_damage_ = status.ToString();
    }
    if (!filter_damage_.empty()) {
      report.origin = FilterOrigin::kUnreadable;
      report.problems.push_back("a filter cannot be read: " + filter_damage_);
    } else {
      report.note =
          "those of the policy " + properties_->filter_policy_name + ", which is not known here";
    }
  }

  void ReportFilters() {
    FilterReport& report = report_.filter;
    report.policy = properties_->filter_policy_name;
    const std::vector<std::string>& filters = filters_.contents();
    if (filters.empty()) {
      if (properties_->filter_size != 0) ExplainMissingFilters();
      return;
    }
    const bool has_ranges = rocksdb_plugin::IsRangeExtractor(options_.prefix_extractor.get());
    report.of = !has_prefixes_     ? "keys"
                : !has_whole_keys_ ? "prefixes"
                : has_ranges       ? "keys and ranges"
                                   : "keys and prefixes";
    const uint64_t entries = properties_->num_filter_entries != 0 ? properties_->num_filter_entries
                                                                  : properties_->num_entries;
    DescribeFilters(filters, std::max<uint64_t>(entries, 1), &report);
    // That of partitions includes their index.
    report.shape = properties_->filter_size > report.num_bytes ? "partitioned" : "full";
    if (report.num_range_filters != 0) rocksdb_plugin::TestRangesOnce();
    if (filters.size() == 1) only_filter_.reset(rocksdb_plugin::NewBitsReader(filters.front()));
  }

  void ReportIndex() {
    const auto& user = properties_->user_collected_properties;
    const FileIndex index(properties_, {options_.env->GetFileSystem(), report_.place.path, nullptr},
                          std::nullopt);
    if (index.index() != nullptr) {
      const GranuleIndex& granules = index.index()->granules();
      report_.index = cli::ReportIndex(granules, granules.index_bytes());
      report_.index.place = index.is_in_sidecar() ? "sidecar" : "sst";
    } else if (user.count(rocksdb_plugin::kSidecarProperty) != 0 && index.lacks_sidecar()) {
      report_.index.note = index.problem();  // a database that was copied is not damaged
    } else if (user.count(rocksdb_plugin::kIndexProperty) != 0 ||
               user.count(rocksdb_plugin::kSidecarProperty) != 0) {
      report_.index.problem = index.problem();
    } else if (user.count(rocksdb_plugin::kProblemProperty) != 0) {
      report_.index.note = index.problem();
    }
  }

  // RocksDB takes for granted that it can read both ends of a file that it imports.
  void CheckBothEnds() {
    rocksdb::Iterator& probe = Probe();
    probe.SeekToFirst();
    if (probe.Valid()) probe.SeekToLast();
    if (!probe.Valid()) term::Fail("its filters cannot be asked: {}", probe.status().ToString());
  }

  // Of several filters RocksDB chooses the one to ask.
  TableLookup& Lookup() {
    if (lookup_ == nullptr) {
      CheckBothEnds();
      options_.table_factory = TableFactoryWith(asked_.policy());
      const rocksdb::Status status =
          TableLookup::Open(report_.place.path, options_, *properties_, &lookup_);
      if (!status.ok()) term::Fail("its filters cannot be asked: {}", status.ToString());
    }
    return *lookup_;
  }

  std::optional<bool> AnswerOf(const rocksdb::Status& lookup) {
    if (!lookup.ok()) term::Fail("its filters cannot be asked: {}", lookup.ToString());
    return asked_.TakeAnswer();
  }

  // What the filters say of a key; nothing if a lookup does not ask them.
  std::optional<bool> AskWholeKey(const rocksdb::Slice& key) {
    if (filters_.contents().empty()) return true;
    if (only_filter_ != nullptr) return only_filter_->MayMatch(key);
    return AnswerOf(Lookup().Get(key));
  }

  std::optional<bool> AskPrefix(const rocksdb::Slice& key) {
    const rocksdb::SliceTransform* const extractor = options_.prefix_extractor.get();
    if (filters_.contents().empty() || extractor == nullptr || !extractor->InDomain(key)) {
      return true;
    }
    if (only_filter_ != nullptr) return only_filter_->MayMatch(extractor->Transform(key));
    return AnswerOf(Lookup().Seek(key));
  }

  // What every lookup and seek that can find the key asks.
  bool Passes(const rocksdb::Slice& key) {
    return (!has_whole_keys_ || AskWholeKey(key).value_or(true)) &&
           (!has_prefixes_ || AskPrefix(key).value_or(true));
  }

  rocksdb::Iterator& Probe() {
    if (probe_ == nullptr) {
      rocksdb::ReadOptions options;
      options.fill_cache = false;  // where a block is read is of interest each time
      options.total_order_seek = true;
      last_time_ = LastTime(*options_.comparator);
      until_ = last_time_;
      if (!last_time_.empty()) options.timestamp = &until_;
      probe_.reset(reader_->NewIterator(options));
    }
    return *probe_;
  }

  bool HasPrefix(const rocksdb::Slice& prefix) {
    rocksdb::Iterator& probe = Probe();
    probe.Seek(prefix);
    return !probe.status().ok() || (probe.Valid() && probe.key().starts_with(prefix));
  }

  FileReport report_;
  const NotedReads noted_reads_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::SstFileReader> reader_;
  std::shared_ptr<const rocksdb::TableProperties> properties_;
  bool has_whole_keys_ = false;
  bool has_prefixes_ = false;
  bool has_obsolete_filter_ = false;
  std::string filter_damage_;  // why filters_ are none although the file has some
  CapturedFilters filters_;
  std::unique_ptr<rocksdb::FilterBitsReader> only_filter_;  // null if there are several
  CapturedFilters asked_;                                   // by lookup_
  std::unique_ptr<TableLookup> lookup_;
  std::string last_time_;
  rocksdb::Slice until_;  // last_time_, which probe_ refers to
  std::unique_ptr<rocksdb::Iterator> probe_;
};

}  // namespace

std::unique_ptr<TableFile> OpenRocksDbFile(const FilePlace& place) {
  rocksdb::Env* const env = rocksdb::Env::Default();
  std::unique_ptr<rocksdb::RandomAccessFile> file;
  rocksdb::Status status = env->NewRandomAccessFile(place.path, &file, rocksdb::EnvOptions());
  if (status.IsNotFound() || status.IsPathNotFound()) return nullptr;
  uint64_t num_bytes = 0;
  if (status.ok()) status = env->GetFileSize(place.path, &num_bytes);
  char buffer[sizeof(uint64_t)];
  rocksdb::Slice end;
  const uint64_t end_bytes = std::min<uint64_t>(num_bytes, sizeof(buffer));
  // Reading nothing is an error to RocksDB.
  if (status.ok() && end_bytes != 0) {
    status = file->Read(num_bytes - end_bytes, end_bytes, &end, buffer);
  }
  if (!status.ok()) term::Fail("cannot open {}: {}", place.path, status.ToString());
  if (!IsBlockBasedTable(AsBytes(end.ToStringView()))) {
    term::Fail("cannot open {}: it is not a block-based table", place.path);
  }
  return std::make_unique<RocksDbFile>(place, num_bytes);
}

}  // namespace blocksieve::cli
