// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/database/table/table_file.h"

#include <fmt/ranges.h>
#include <rocksdb/convenience.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <vector>

#include "blocksieve/filter.h"
#include "integration/cli/term/terminal.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/compat/user_index.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/base/coding.h"

namespace blocksieve::cli {
namespace {

bool HasProperty(const rocksdb::TableProperties& properties, const char* name) {
  return rocksdb_plugin::FindProperty(properties.user_collected_properties, name) == "1";
}

// The table format of a file, as OPTIONS files name it; "" for other files.
std::string ReadTableFormat(const std::string& path) {
  std::array<uint8_t, sizeof(uint64_t)> magic{};  // ends the file; RocksDB's are in its sources
  std::ifstream file(path, std::ios::binary);
  file.seekg(-static_cast<std::streamoff>(magic.size()), std::ios::end);
  file.read(reinterpret_cast<char*>(magic.data()), magic.size());
  switch (LoadLittleEndian<uint64_t>(magic.data())) {
    case 0x88e241b785f4cff7:
    case 0xdb4775248b80fb57:
      return "BlockBasedTable";
    case 0x8242229663bf9564:
    case 0x4f3418eb7a8f13b8:
      return "PlainTable";
    case 0x926789d0c5f17873:
      return "CuckooTable";
    default:
      return "";
  }
}

// Whether the table lacks the timestamps of its comparator: RocksDB may omit them since 8.4.
template <class Properties>
bool LacksItsTimestamps(const Properties& properties) {
  if constexpr (requires { properties.user_defined_timestamps_persisted; }) {
    return properties.user_defined_timestamps_persisted == 0;
  } else {
    return false;
  }
}

IndexReport ReportSkipIndex(const std::string& path,
                            const std::shared_ptr<const rocksdb::TableProperties>& properties) {
  const auto& user = properties->user_collected_properties;
  const rocksdb_plugin::SstIndex index(properties,
                                       {rocksdb::Env::Default()->GetFileSystem(), path});
  IndexReport report;
  if (const SkipIndex* const open = index.index()) {
    report.num_granules = open->num_granules();
    report.num_bytes = open->index_bytes();
    report.place = index.is_in_sidecar() ? "sidecar" : "sst";
    report.columns = open->columns();
  } else if (const bool has_sidecar = user.contains(rocksdb_plugin::kSidecarProperty);
             has_sidecar || user.contains(rocksdb_plugin::kIndexProperty)) {
    // A copied database is not damaged.
    (has_sidecar && index.lacks_sidecar() ? report.note : report.problem) = index.problem();
  } else if (user.count(rocksdb_plugin::kProblemProperty) != 0) {
    report.note = index.problem();
  }
  return report;
}

// The table's last block but the footer lists its meta blocks:
//   entries, each: varints shared, unshared, value_size; unshared bytes of the name; the value
//   fixed32 offset of each restart; fixed32 their number; the trailer: compression, checksum
// The footer, 48 bytes before format version 1 and 53 since, has its place.

constexpr const char* kAny = "any";

bool IsKnown(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {
      "rocksdb.properties", "rocksdb.compression_dict", "rocksdb.range_del",
      "rocksdb.hashindex.prefixes", "rocksdb.hashindex.metadata"};
  std::vector<std::string_view> prefixes = {"filter.", "fullfilter.", "partitionedfilter."};
#if ROCKSDB_MAJOR >= 9  // files of format version 6 name it
  prefixes.push_back("rocksdb.index");
#endif
  if (BLOCKSIEVE_HAS_USER_INDEX != 0) prefixes.push_back("rocksdb.user_defined_index.");
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(prefixes, [&](auto prefix) { return name.starts_with(prefix); });
}

// The block of names with its compression byte; empty if it cannot be found.
std::string ReadMetaIndex(const std::string& path) {
  constexpr uint64_t kFooterBytes = 53;
  constexpr uint64_t kLegacyFooterBytes = 48;
  constexpr uint64_t kLegacyMagic = 0xdb4775248b80fb57;
  constexpr uint64_t kTrailerBytes = 5;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto num_bytes = static_cast<uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  const auto read = [&](uint64_t offset, uint64_t size) {
    std::string bytes;
    if (offset > num_bytes || size > num_bytes - offset) return bytes;
    bytes.resize(static_cast<size_t>(size));
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(bytes.data(), static_cast<std::streamsize>(size));
    return bytes;
  };
  if (num_bytes < kFooterBytes) return "";
  const std::string footer = read(num_bytes - kFooterBytes, kFooterBytes);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(footer.data());
  const bool is_legacy = LoadLittleEndian<uint64_t>(bytes + kFooterBytes - 8) == kLegacyMagic;
  if (!is_legacy && LoadLittleEndian<uint32_t>(bytes + kFooterBytes - 12) >= 6) {
    const uint64_t size = LoadLittleEndian<uint32_t>(bytes + 13) + uint64_t{1};
    return read(num_bytes - kFooterBytes - kTrailerBytes + 1 - size, size);
  }
  Decoder handle(AsBytes(footer).subspan(is_legacy ? kFooterBytes - kLegacyFooterBytes : 1));
  const uint64_t offset = handle.Varint();
  return read(offset, std::min(handle.Varint(), num_bytes) + 1);
}

// The names of the meta blocks of a block-based table that this RocksDB does not know, with
// commas; "" without any. RocksDB ends the process that checks such a table if it was built
// with assertions, as Debian's is: tables of RocksDB 2, of Pebble, with a block index of a
// later RocksDB. "any" if the table does not list them as RocksDB does.
std::string UnknownMetaBlocks(const std::string& path) {
  const std::string block = ReadMetaIndex(path);
  if (block.size() <= sizeof(uint32_t) || block.back() != 0) return kAny;  // missing or compressed
  const ByteView contents = AsBytes(block).first(block.size() - 1);
  const size_t before_count = contents.size() - sizeof(uint32_t);
  const uint64_t restart_bytes =
      uint64_t{LoadLittleEndian<uint32_t>(contents.data() + before_count)} * sizeof(uint32_t);
  if (restart_bytes > before_count) return kAny;
  Decoder entries(contents.first(before_count - static_cast<size_t>(restart_bytes)));
  std::vector<std::string> unknown;
  std::string name;
  while (!entries.rest().empty()) {
    const uint64_t shared = entries.Varint();
    const uint64_t unshared = entries.Varint();
    const uint64_t value_size = entries.Varint();
    const ByteView rest = entries.Bytes(unshared);
    entries.Bytes(value_size);
    if (!entries.ok() || shared > name.size()) return kAny;
    name.resize(static_cast<size_t>(shared));
    name.append(reinterpret_cast<const char*>(rest.data()), rest.size());
    if (!IsKnown(name)) unknown.push_back(name);
  }
  return fmt::format("{}", fmt::join(unknown, ", "));
}

}  // namespace

std::string TextOf(const rocksdb::Status& status) {
  const std::string text = status.ToString();
  return text.find("orrupted compressed block") == text.npos
             ? text
             : "blocks have another compression than RocksDB's, as in variants of LevelDB such as "
               "Minecraft's; their checksums are right";
}

std::unique_ptr<TableFile> TableFile::Open(const FilePlace& place) {
  uint64_t num_bytes = 0;
  const rocksdb::Status status = rocksdb::Env::Default()->GetFileSize(place.path, &num_bytes);
  if (status.IsNotFound() || status.IsPathNotFound()) return nullptr;
  term::CheckOk(status, "cannot open {}", place.path);
  return std::unique_ptr<TableFile>(new TableFile(place, num_bytes));
}

TableFile::TableFile(const FilePlace& place, uint64_t num_bytes)
    : path_(place.path),
      format_(ReadTableFormat(path_)),
      report_{.place = place, .filter = {}, .index = {}} {
  // Takes the last operand, so that tables with any merge operator can be read.
  term::CheckOk(rocksdb::MergeOperator::CreateFromString({}, "put", &options_.merge_operator),
                "cannot merge operands");
  options_.info_log = std::make_shared<LineLog>([this](std::string_view line) {
    // About a filter per block, which versions before 7.0 wrote.
    if (line.find("obsolete filter type") != line.npos) has_obsolete_filter_ = true;
  });
  if (is_block_based()) {
    unknown_meta_blocks_ = UnknownMetaBlocks(path_);
  } else {
    // Without its prefix extractor, a PlainTable can only be scanned.
    const std::shared_ptr<rocksdb::TableFactory> plain(
        rocksdb::NewPlainTableFactory({.full_scan_mode = true}));
    options_.table_factory.reset(rocksdb::NewAdaptiveTableFactory(nullptr, nullptr, plain));
    options_.allow_mmap_reads = true;  // a CuckooTable requires it
  }
  if (place.comparator != nullptr) options_.comparator = place.comparator;
  OpenTable();
  if (const auto* const found = FindComparator(); found != options_.comparator) {
    options_.comparator = found;
    OpenTable();
  }
  // Only the program may have the prefix extractor.
  const rocksdb::Status status = rocksdb::SliceTransform::CreateFromString(
      rocksdb_plugin::Strict(), properties_->prefix_extractor_name, &options_.prefix_extractor);
  if (!status.ok()) options_.prefix_extractor = nullptr;
  has_whole_keys_ = HasProperty(*properties_, "rocksdb.block.based.table.whole.key.filtering");
  has_prefixes_ = HasProperty(*properties_, "rocksdb.block.based.table.prefix.filtering");
  last_time_.assign(options_.comparator->timestamp_size(), '\xff');
  until_ = last_time_;
  for (const std::string& contents : table_.filters) {
    partitions_.emplace_back(rocksdb_plugin::NewBitsReader(contents));
  }
  Report(num_bytes);
}

TableFile::~TableFile() = default;

void TableFile::OpenTable() {
  const rocksdb::Status status =
      rocksdb_plugin::OpenTable(options_, path_, /*reads_filters=*/true, &table_);
  if (!status.ok()) {
    const std::string problem =
        format_.empty() && status.IsCorruption()
            ? "it is incomplete, damaged or no SST: its end names no table format that is known"
            : TextOf(status);
    const bool is_newer = problem.find("format_version") != std::string::npos;
    term::Fail("cannot open {}: {}{}", path_, problem,
               is_newer ? "; this command has RocksDB " + rocksdb::GetRocksVersionAsString() +
                              "; use one with the RocksDB that wrote the file"
                        : "");
  }
  properties_ = table_.reader->GetTableProperties();
  if (properties_ != nullptr) return;
  // RocksDB also opens tables whose properties are damaged.
  term::CheckOk(VerifyChecksum(), "cannot open {}", path_);
  properties_ = rocksdb_plugin::NoProperties();
}

// RocksDB aborts, or loses keys, if it reads them in a wrong order.
const rocksdb::Comparator* TableFile::FindComparator() {
  const rocksdb::Comparator* found = options_.comparator;
  const std::string name = properties_->comparator_name;
  if (!is_block_based()) {
    why_no_keys_ = "the table format is " + format_;
  } else if (name.empty() && report_.place.comparator == nullptr) {
    why_no_keys_ = "the file does not name its comparator";
  } else if (!name.empty() && name != found->Name()) {
    const auto made = rocksdb::Comparator::CreateFromString(rocksdb_plugin::Strict(), name, &found);
    if (!made.ok() || found == nullptr) {
      why_no_keys_ = "this command does not have the comparator " + name;
      found = rocksdb::BytewiseComparator();
    }
  }
  return LacksItsTimestamps(*properties_) ? found->GetRootComparator() : found;
}

rocksdb::Status TableFile::VerifyChecksum() const {
  return unknown_meta_blocks_.empty() ? table_.reader->VerifyChecksum() : rocksdb::Status::OK();
}

rocksdb::ReadOptions TableFile::ReadAll() const {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.total_order_seek = true;
  if (!last_time_.empty()) options.timestamp = &until_;  // which iterators require
  return options;
}

rocksdb::Status TableFile::ReadKeys(const std::function<void(const rocksdb::Slice& key)>& add) {
  if constexpr (rocksdb_plugin::kReadsAllVersions) {
    const auto add_entry = [&](const rocksdb::Slice& key, const auto&, auto type, auto) {
      has_entities_ |= type == rocksdb::kEntryWideColumnEntity;
      add(key);
      return true;
    };
    return rocksdb_plugin::ForEachEntry(table_.reader.get(), options_.comparator, add_entry);
  }
  rocksdb::ReadOptions options = ReadAll();
  // RocksDB's iterators for user-defined timestamps return all versions since a time, with deletes.
  // With the empty time of keys without timestamps, that is every entry, except that they do not
  // return raw merge operands. The number of entries shows whether all were visited.
  constexpr size_t kSequenceAndTypeBytes = 8;
  const std::string first_time(last_time_.size(), '\0');
  const rocksdb::Slice since = first_time;
  size_t suffix_bytes = 0;
  if (properties_->num_merge_operands == 0) {
    options.iter_start_ts = &since;
    suffix_bytes = kSequenceAndTypeBytes + first_time.size();
  }
  const std::unique_ptr<rocksdb::Iterator> entry(table_.reader->NewIterator(options));
  for (entry->SeekToFirst(); entry->Valid(); entry->Next()) {
    rocksdb::Slice key = entry->key();
    if (key.size() < suffix_bytes)
      term::Fail("a key has {} bytes; allowed: at least {}", key.size(), suffix_bytes);
    key.remove_suffix(suffix_bytes);
    add(key);
  }
  return entry->status();
}

std::string TableFile::VisitKeys(const std::function<void(const rocksdb::Slice& key)>& visit) {
  if (!why_no_keys_.empty()) return "keys were not checked: " + why_no_keys_;
  uint64_t num_seen = 0;
  const auto add = [&](const rocksdb::Slice& key) {
    visit(key);
    ++num_seen;
    term::CheckInterrupt();
  };
  const rocksdb::Status status = ReadKeys(add);
  const uint64_t num_entries = properties_->num_entries - properties_->num_range_deletions;
  const std::string share = fmt::format(
      "{} of {} entries were checked: ", term::WithCommas(num_seen), term::WithCommas(num_entries));
  if (status.IsNotSupported()) return share + status.ToString();
  term::CheckOk(status, "cannot read the file after {}", term::CountOf(num_seen, "key"));
  if (num_seen == num_entries || rocksdb_plugin::LacksProperties(*properties_)) return "";
  return share + "RocksDB hides deletes and older versions in files with merge operands";
}

std::vector<std::string> TableFile::FindDamage() {
  std::vector<std::string> damage;
  const rocksdb::Status status = VerifyChecksum();
  const bool has_none = !is_block_based() && status.IsNotSupported();
  if (!status.ok() && !has_none) damage.push_back("block checksum: " + status.ToString());
  for (const std::string& contents : table_.filters) {
    if (!DescribeFilter(AsBytes(contents)).ok()) continue;  // stock, or already in the report
    const Status valid = Filter::Verify(AsBytes(contents));
    if (!valid.ok()) damage.push_back("filter: " + valid.message());
  }
  return damage;
}

std::string TableFile::ForEachKey(const KeyVisitor& visit) {
  ends_.clear();
  std::string last;
  std::string unchecked = VisitKeys([&](const rocksdb::Slice& key) {
    bool passes = PassesLookups(ends_.size(), key);
    // Keys come in order, so one that this partition does not pass may be the first of the next
    // one.
    if (!passes && ends_.size() + 1 < partitions_.size() && PassesLookups(ends_.size() + 1, key)) {
      ends_.push_back(last);
      passes = true;
    }
    if (partitions_.size() > 1) last = key.ToString();
    visit(key.ToStringView(), passes);
  });
  ends_.push_back(last);
  const auto add = [&](const std::string& text) {
    unchecked += (unchecked.empty() ? "" : "; ") + text;
  };
  if (has_prefixes_ && extractor() == nullptr) {
    add("prefixes were not checked: the extractor " + properties_->prefix_extractor_name +
        " is unknown");
  }
  if (!unknown_meta_blocks_.empty()) {
    add(std::string(why_no_keys_.empty() ? "" : "data and ") +
        "meta blocks were not checked: RocksDB " + rocksdb::GetRocksVersionAsString() +
        " does not know " + unknown_meta_blocks_);
  }
  return unchecked;
}

std::optional<std::string> TableFile::FindKey(const rocksdb::Slice& key) {
  return rocksdb_plugin::FindKey(table_.reader.get(), ReadAll(), options_.comparator, key,
                                 &key_probe_);
}

size_t TableFile::FindPartition(const rocksdb::Slice& key) const {
  if (partitions_.size() <= 1) return 0;
  const auto end = std::ranges::lower_bound(
      ends_, key, [this](const rocksdb::Slice& a, const rocksdb::Slice& b) {
        return options_.comparator->CompareWithoutTimestamp(a, false, b, false) < 0;
      });
  return static_cast<size_t>(end - ends_.begin());
}

bool TableFile::PassesKey(size_t partition, const rocksdb::Slice& key) {
  return partitions_.empty() || partitions_[partition] == nullptr ||
         partitions_[partition]->MayMatch(key);
}

bool TableFile::PassesPrefix(size_t partition, const rocksdb::Slice& key) {
  return extractor() == nullptr || !extractor()->InDomain(key) ||
         PassesKey(partition, extractor()->Transform(key));
}

bool TableFile::PassesLookups(size_t partition, const rocksdb::Slice& key) {
  // Under the extractor of ranges, all keys have the same prefix, which answers for a range.
  const bool has_prefixes = has_prefixes_ && !report_.filter.has_range_extractor;
  return (!has_whole_keys_ || PassesKey(partition, key)) &&
         (!has_prefixes || PassesPrefix(partition, key));
}

bool TableFile::MayMatch(std::string_view key) {
  const size_t partition = FindPartition(key);
  // A lookup reads nothing for a key after the last one of the file.
  if (partition != 0 && partition == partitions_.size()) return false;
  return has_whole_keys_ ? PassesKey(partition, key) : PassesPrefix(partition, key);
}

std::optional<bool> TableFile::MayMatchRange(std::string_view begin, std::string_view end) {
  const size_t partition = FindPartition(begin);
  if (!report_.filter.answers_ranges() || !rocksdb_plugin::IsRangeExtractor(extractor()) ||
      partition == partitions_.size()) {
    return std::nullopt;
  }
  // The calls that RocksDB makes.
  const rocksdb::Slice prefix = extractor()->Transform(begin);
  extractor()->Transform(end);
  return PassesKey(partition, prefix);
}

bool TableFile::HasKeyIn(std::string_view begin, std::string_view end) {
  const std::optional<std::string> first = FindKey(begin);
  return first && *first < end;
}

bool TableFile::IndexFinds(std::string_view key) {
  if (table_.index->index == nullptr) return true;
  // Deletes are in its sections, too, or rows below them would come back.
  if (!table_.index->index->MayContainRange(key, std::string(key) + '\0')) return false;
  // RocksDB 11.9's iterators over files crash at entities whose columns are blobs.
  if (has_entities_) return true;
  if (index_probe_ == nullptr) {
    rocksdb::ReadOptions options = ReadAll();
    probe_.reset(table_.reader->NewIterator(options));
    rocksdb_plugin::ChooseIndex(index_choice_.get(), &options);
    index_probe_.reset(table_.reader->NewIterator(options));
  }
  probe_->Seek(key);
  index_probe_->Seek(key);
  return index_probe_->Valid() == probe_->Valid() &&
         (!probe_->Valid() || index_probe_->key() == probe_->key());
}

std::optional<std::string> TableFile::AbsentKey(std::string_view present, std::mt19937_64* random) {
  if (has_whole_keys_) {
    std::string key(present);
    AppendLittleEndian(&key, (*random)());  // absent, except with probability 2^-64
    return key;
  }
  if (extractor() == nullptr || !extractor()->InDomain(present)) return std::nullopt;
  const auto has_prefix = [this](const rocksdb::Slice& prefix) {
    const std::optional<std::string> first = FindKey(prefix);
    return !key_probe_->status().ok() || (first && first->starts_with(prefix.ToStringView()));
  };
  const std::string prefix = extractor()->Transform(present).ToString();
  // As close as possible: first only the last byte differs, then the last two, and so on.
  constexpr int kTriesPerWidth = 4;
  for (size_t i = 0; i < kTriesPerWidth * std::min(prefix.size(), sizeof(uint64_t)); ++i) {
    std::string key = prefix;
    for (size_t width = 0; width <= i / kTriesPerWidth; ++width) {
      key[key.size() - 1 - width] = static_cast<char>((*random)());
    }
    if (extractor()->InDomain(key) && !has_prefix(extractor()->Transform(key))) return key;
  }
  return std::nullopt;
}

// RocksDB silently skips filters that it cannot read.
void TableFile::ExplainMissingFilters(FilterReport* report) const {
  report->note = has_obsolete_filter_ ? "one filter per block, which RocksDB no longer reads"
                                      : rocksdb_plugin::LoadedAbiProblem();
  if (!report->note.empty()) return;
  std::string damage = table_.filter_damage;
  if (damage.empty()) {
    const rocksdb::Status status = VerifyChecksum();
    if (!status.ok()) damage = status.ToString();
  }
  if (!damage.empty()) {
    report->origin = FilterOrigin::kUnreadable;
    report->problems.push_back("unreadable filter: " + damage);
  } else {
    report->note = "written by the unknown policy " + properties_->filter_policy_name;
  }
}

std::string TableFile::EntriesText(const FilterReport& report) const {
  if (!has_prefixes_) return "keys";
  if (!report.has_range_extractor) return has_whole_keys_ ? "keys and prefixes" : "prefixes";
  const bool has_ranges = report.ranges.num_filters != 0;
  if (report.prefixes.num_filters == 0) return has_ranges ? "keys and ranges" : "keys";
  return has_ranges ? "keys, prefixes and ranges" : "keys and prefixes";
}

FilterReport TableFile::ReportFilters() {
  FilterReport report = rocksdb_plugin::ReportFilters(*properties_, table_.filters);
  if (!is_block_based()) {
    report.origin = FilterOrigin::kNone;  // a PlainTable may have one of its own
    report_.place.reader.kind = rocksdb_plugin::FilterReader::Kind::kNoFilters;
    report.note = "has no filters: table format " + format_;
  } else if (rocksdb_plugin::LacksProperties(*properties_)) {
    report.note = "written without table properties";
    if (!why_no_keys_.empty()) {
      report.note += "; the number of keys is unknown: " + why_no_keys_;
    }
  } else if (!table_.filters.empty()) {
    report.entries = EntriesText(report);
  } else if (report.origin == FilterOrigin::kUnknown) {
    ExplainMissingFilters(&report);
  }
  return report;
}

// Reads no data blocks, unless nothing else tells the number of keys.
void TableFile::Report(uint64_t num_bytes) {
  report_.num_bytes = num_bytes;
  report_.num_entries = properties_->num_entries - properties_->num_range_deletions;
  report_.num_data_blocks = properties_->num_data_blocks;
  if (rocksdb_plugin::LacksProperties(*properties_)) {
    VisitKeys([&](const rocksdb::Slice&) { ++report_.num_entries; });
  }
  report_.filter = ReportFilters();
  report_.index = rocksdb_plugin::ReportIndex(*table_.index, *properties_);
  if (report_.index.place.empty()) report_.index = ReportSkipIndex(path_, properties_);
}

}  // namespace blocksieve::cli
