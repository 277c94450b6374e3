#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/iterator.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <set>
#include <utility>

#include "blocksieve/filter_block.h"
#include "integration/cli/engine/table_file.h"
#include "integration/cli/rocksdb/rocksdb_engine.h"
#include "integration/cli/rocksdb/table_filters.h"
#include "integration/cli/rocksdb/table_layout.h"
#include "integration/cli/rocksdb/table_reading.h"
#include "integration/cli/term/failure.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/policy/filter_bits.h"

namespace blocksieve::cli {
namespace {

using rocksdb_plugin::FileIndex;

ByteView AsView(const std::string& contents) { return AsBytes(contents); }

bool HasProperty(const rocksdb::TableProperties& properties, const char* name) {
  return rocksdb_plugin::FindProperty(properties.user_collected_properties, name) == "1";
}

/// A table file. It names the comparator and prefix extractor with which it must be read.
class RocksDbFile final : public TableFile {
 public:
  RocksDbFile(const FilePlace& place, std::unique_ptr<rocksdb::RandomAccessFile> file,
              uint64_t num_bytes)
      : file_(std::move(file)) {
    report_.place = place;
    report_.num_bytes = num_bytes;
    OpenTable();
    report_.num_entries = properties_->num_entries - properties_->num_range_deletions;
    ReadFilters();
    DescribeFilters();
    DescribeIndex();
  }

  const FileReport& report() const override { return report_; }

  std::vector<std::string> FindDamage() override {
    std::vector<std::string> damage;
    const rocksdb::Status status = reader_->VerifyChecksum();
    if (!status.ok()) damage.push_back("checksums of blocks: " + status.ToString());
    for (const TableFilter& part : filters_.parts) {
      if (!part.status.ok()) continue;  // already in the report
      const ByteView contents = AsView(part.contents);
      if (!DescribeFilterBlock(contents).ok()) continue;  // stock, or in the report
      const Status valid = VerifyFilterBlock(contents);
      if (!valid.ok()) damage.push_back("a filter: " + valid.message());
    }
    return damage;
  }

  std::string ForEachKey(const KeyVisitor& visit) override {
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
    return has_whole_keys_ ? WholeKeyMayMatch(key) : PrefixMayMatch(key);
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
    rocksdb::BlockBasedTableOptions table;
    table.no_block_cache = true;
    options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
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
    reader_ = std::make_unique<rocksdb::SstFileReader>(options_);
    const rocksdb::Status status = reader_->Open(report_.place.path);
    if (!status.ok()) term::Fail("cannot open {}: {}", report_.place.path, status.ToString());
    properties_ = reader_->GetTableProperties();
  }

  void ReadFilters() {
    FilterReport& report = report_.filter;
    Result<TableFilters> filters = ReadTableFilters(*file_, report_.num_bytes, *properties_);
    if (!filters.ok()) {
      report.origin = FilterOrigin::kUnreadable;
      report.problems.push_back("its filters cannot be found: " + filters.status().message());
      return;
    }
    filters_ = *std::move(filters);
    for (TableFilter& part : filters_.parts) {
      const size_t timestamp_bytes = options_.comparator->timestamp_size();
      part.last_key.resize(part.last_key.size() - std::min(part.last_key.size(), timestamp_bytes));
      // A reader of no contents lets everything through.
      readers_.emplace_back(rocksdb_plugin::NewBitsReader(part.contents));
    }
  }

  void DescribeFilters() {
    FilterReport& report = report_.filter;
    if (filters_.parts.empty()) return;
    report.shape = filters_.is_partitioned ? "partitioned" : "full";
    report.of = !has_prefixes_ ? "keys" : !has_whole_keys_ ? "prefixes" : "keys and prefixes";
    report.num_filters = filters_.parts.size();
    for (const TableFilter& part : filters_.parts) report.num_bytes += part.contents.size();
    const uint64_t entries =
        std::max<uint64_t>(properties_->num_filter_entries != 0 ? properties_->num_filter_entries
                                                                : properties_->num_entries,
                           1);
    const double bits_per_entry =
        8 * static_cast<double>(report.num_bytes) / static_cast<double>(entries);

    std::set<std::string> kinds;
    double sum = 0;
    for (const TableFilter& part : filters_.parts) {
      FilterFacts facts = DescribeFilter(AsView(part.contents), bits_per_entry);
      if (!part.status.ok()) facts.problem = part.status.message();
      if (!facts.problem.empty()) {
        report.problems.push_back("a filter cannot be read: " + facts.problem);
      } else {
        kinds.insert(facts.kind);
        report.origin = facts.origin;
      }
      sum += facts.predicted_fpr;
      report.num_entries += facts.num_entries;
    }
    if (kinds.empty()) report.origin = FilterOrigin::kUnreadable;
    if (report.origin == FilterOrigin::kStock) report.num_entries = entries;
    for (const std::string& kind : kinds) report.kind += (report.kind.empty() ? "" : "+") + kind;
    report.predicted_fpr = sum / static_cast<double>(filters_.parts.size());
  }

  void DescribeIndex() {
    const auto& user = properties_->user_collected_properties;
    const auto bytes = user.find(rocksdb_plugin::kIndexProperty);
    const FileIndex index(properties_);
    if (index.index() != nullptr) {
      report_.index = ReportIndex(index.index()->granules(), bytes->second.size());
    } else if (bytes != user.end()) {
      report_.index.problem = index.problem();
    } else if (user.count(rocksdb_plugin::kProblemProperty) != 0) {
      report_.index.note = index.problem();
    }
  }

  // The filter that RocksDB would ask for the key.
  rocksdb::FilterBitsReader& ReaderFor(const rocksdb::Slice& key) const {
    if (!filters_.is_partitioned) return *readers_.front();
    const auto& parts = filters_.parts;
    const auto part = std::partition_point(parts.begin(), parts.end(), [&](const TableFilter& one) {
      return options_.comparator->CompareWithoutTimestamp(one.last_key, false, key, false) < 0;
    });
    const auto number = static_cast<size_t>(part - parts.begin());
    return *readers_[std::min(number, readers_.size() - 1)];
  }

  bool WholeKeyMayMatch(const rocksdb::Slice& key) const {
    return readers_.empty() || ReaderFor(key).MayMatch(key);
  }

  bool PrefixMayMatch(const rocksdb::Slice& key) const {
    const rocksdb::SliceTransform* const extractor = options_.prefix_extractor.get();
    if (readers_.empty() || extractor == nullptr || !extractor->InDomain(key)) return true;
    return ReaderFor(key).MayMatch(extractor->Transform(key));
  }

  // What every lookup and seek that can find the key asks.
  bool Passes(const rocksdb::Slice& key) const {
    return (!has_whole_keys_ || WholeKeyMayMatch(key)) && (!has_prefixes_ || PrefixMayMatch(key));
  }

  rocksdb::Iterator& Probe() {
    if (probe_ == nullptr) {
      rocksdb::ReadOptions options;
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
  const std::unique_ptr<rocksdb::RandomAccessFile> file_;
  const NotedReads noted_reads_;
  rocksdb::Options options_;
  std::unique_ptr<rocksdb::SstFileReader> reader_;
  std::shared_ptr<const rocksdb::TableProperties> properties_;
  bool has_whole_keys_ = false;
  bool has_prefixes_ = false;
  TableFilters filters_;
  std::vector<std::unique_ptr<rocksdb::FilterBitsReader>> readers_;  // of filters_, in its order
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
  char buffer[TableFooter::kMaxBytes];
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
  return std::make_unique<RocksDbFile>(place, std::move(file), num_bytes);
}

}  // namespace blocksieve::cli
