// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/maintenance/row_loader.h"

#include <rocksdb/listener.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <new>
#include <set>
#include <system_error>
#include <utility>

#include "blocksieve/rocksdb.h"
#include "blocksieve/rocksdb/enable.h"
#include "integration/cli/database/database.h"
#include "integration/cli/maintenance/options_change.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/index/skip_index_catalog.h"

namespace blocksieve::cli {
namespace {

constexpr size_t kBatchBytes = 1 << 20;
constexpr const char* kCannotWrite = "cannot write database {}";

// Fails if `path` is neither a database nor an empty or missing directory.
void CheckPlaceForDatabase(const std::string& path) {
  std::error_code error;
  if (HasRocksDb(path)) return;
  if (!std::filesystem::exists(path, error)) {
    // Otherwise a typing error would load into a new tree of directories.
    const auto parent = std::filesystem::absolute(path).lexically_normal().parent_path();
    const auto above = path.ends_with('/') ? parent.parent_path() : parent;
    if (std::filesystem::is_directory(above, error)) return;
    term::Fail("cannot create database {}: {} is no directory; create it first", path,
               above.string());
  }
  if (std::filesystem::is_directory(path, error) && std::filesystem::is_empty(path, error)) return;
  if (error) term::Fail("cannot open database {}: {}", path, error.message());
  term::Fail("{} is neither a database nor an empty directory", path);
}

// Prints reports of collectors to standard error, except those about max_index_bytes for each file:
// SizesOfIndexes is about the final ones.
void PrintReport(std::string_view line) {
  if (line.find(" exceeds max_index_bytes") != std::string_view::npos) return;
  term::WriteToStandardError(std::string(line) + "\n");
}

// Sets the policy. Without one, adds key filters, unless the family has a policy or its table
// format supports none; and range filters if requested, which keep the other options of an existing
// policy.
void AddFilters(const std::string& family, const FilterChoice& filters,
                rocksdb::ColumnFamilyOptions options, OptionsText* edited) {
  if (filters.policy) return PutOption("filter_policy=" + *filters.policy, {family}, edited);
  const std::optional<double>& range_fpr = filters.range_fpr;
  const auto* const table = FindTableOptions(options);
  if (table == nullptr || (table->filter_policy != nullptr && !range_fpr)) return;
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  if (range_fpr) {
    EnableOptions features;
    if (const auto* const present = FindPolicy(options)) features = present->options();
    features.ranges = true;
    features.range_fpr = *range_fpr;
    features.carrier = Carrier::kFilterAndSidecar;
    const rocksdb::Status status = Enable(&options, features);
    if (!status.ok()) {
      term::FailUsage("--range-fpr is {}, but the database cannot have range filters: {}",
                      *range_fpr, status.ToString());
    }
    policy = FindTableOptions(options)->filter_policy;
  } else if (!NewFilterPolicy({}, &policy).ok()) {
    throw std::bad_alloc();  // the options are valid
  }
  // With everything that it needs.
  PutOption("filter_policy=" + policy->ToString(rocksdb::ConfigOptions()), {family}, edited);
}

// The options of a database that has no OPTIONS file; none of them is an edit.
OptionsText DefaultText(const std::vector<std::string>& families) {
  OptionsText text(
      fmt::format("[Version]\n  rocksdb_version={}\n  options_file_version=1.1\n\n[DBOptions]\n  "
                  "listeners={{}}\n",
                  rocksdb::GetRocksVersionAsString()));
  for (const std::string& family : families) text.AddFamily(family);
  return OptionsText(text.text());
}

// Says what happens to the existing indexes.
void SayWhatStays(const ColumnList& present, const ColumnList& wanted,
                  const std::vector<std::string>& in_files) {
  for (const Column& old : present) {
    const auto same_name = std::ranges::find(wanted, old.name(), &Column::name);
    if (same_name == wanted.end()) {
      SayOnLoading("keeping the existing index " + old.ToText());
    } else if (!(*same_name == old)) {
      SayOnLoading(
          fmt::format("replacing the existing index {} by {}", old.ToText(), same_name->ToText()));
    }
  }
  for (const std::string& definition : std::set(in_files.begin(), in_files.end())) {
    if (Column::Parse(definition).ok()) continue;
    SayOnLoading(
        fmt::format("only its own program can build the index {}; new files lack it", definition));
  }
}

}  // namespace

void SayOnLoading(const std::string& text) {
  term::WriteToStandardError("blocksieve load: " + text + "\n");
}

/// Records the last flushed sequence number; 0 before the first flush.
struct RowLoader::FlushListener final : rocksdb::EventListener {
  explicit FlushListener(std::string family_name) : family(std::move(family_name)) {}

  void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo& flushed) override {
    if (flushed.cf_name != family) return;
    // Memtables are flushed in order, one at a time.
    largest_sequence = std::max(largest_sequence.load(), flushed.largest_seqno);
  }

  const std::string family;
  std::atomic<uint64_t> largest_sequence = 0;
};

// Creates the directory if it is missing.
GuardedDb RowLoader::Open(const IndexChange& index, const FilterChoice& filters) {
  const std::string& family_name = *target_.family;
  CheckPlaceForDatabase(target_);
  const bool is_created = !HasRocksDb(target_);
  StoredDatabase before = is_created ? StoredDatabase{target_} : ReadStored(target_);
  const bool has_text = before.text.has_value();  // otherwise RocksDB writes it
  if (!has_text) {
    before = WithText(
        target_, DefaultText(is_created ? std::vector<std::string>{"default"} : before.Families()));
  }
  OptionsText edited = *before.text;
  StoredDatabase stored = before;
  if (stored.Find(family_name) == nullptr) {
    const std::vector<std::string> named = edited.Families();  // also one that was dropped
    if (std::ranges::find(named, family_name) == named.end()) edited.AddFamily(family_name);
    stored = WithText(target_, edited);
  } else if (!is_created) {
    if (filters.policy) {
      term::FailUsage(
          "--filter-policy is {}; allowed: only with a new column family; {} of {} has "
          "filter_policy "
          "{}, which blocksieve revert or apply changes",
          *filters.policy, family_name, target_.path, stored.Policy(family_name));
    }
    CheckWritable(stored, Access::kLoad);
    const GuardedDb db = OpenReadOnly(target_, family_name);
    const auto present = PresentIndex(stored, family_name);
    SayWhatStays(present ? present->index.columns : ColumnList(), index.columns,
                 ColumnsInFiles(db, family_name));
  }
  IndexChange change = index;
  change.info_log = std::make_shared<LineLog>(PrintReport);
  const auto factory = NewIndexFactory(before, family_name, change);
  if (factory != nullptr) {
    PutCollectors(family_name, {factory}, &edited);
    PutOption("listeners=blocksieve", {}, &edited);  // for sidecars
  }
  const rocksdb::ColumnFamilyOptions& family = *stored.Find(family_name);
  if (family.comparator->timestamp_size() != 0) {
    term::Fail("cannot load into database {}: its keys have timestamps, but input lines have none",
               target_.path);
  }
  AddFilters(family_name, filters, family, &edited);
  CheckEdited(before, edited);
  stored = WithText(target_, edited);
  CheckWritable(stored, Access::kLoad);
  UsedOptions options = OptionsToWrite(stored, Access::kLoad, StandInPolicies(stored));
  options.db.create_if_missing = is_created;
  options.db.create_missing_column_families = true;
  for (rocksdb::ColumnFamilyDescriptor& each : options.families) {
    if (factory != nullptr && each.name == family_name) SetIndex(factory, &each.options);
    AddListenerFor(each.options, &options.db);
  }
  term::CheckOk(files::CreateNamedDirectory(target_), "cannot create database {}", target_.path);
  options.db.listeners.push_back(flushes_);
  options.db.info_log = files::NewFullDiskLog(target_);
  GuardedDb db(target_, std::move(options));
  if (has_text && !edited.edits().empty()) {
    WriteNextOptions(files::EnvOfDirectory(target_).get(), before, edited);
  }
  return db;
}

RowLoader::RowLoader(const Target& target, const IndexChange& index, const FilterChoice& filters)
    : target_(target),
      flushes_(std::make_shared<FlushListener>(*target.family)),
      db_(Open(index, filters)),
      family_(db_.FindHandle(*target.family)) {
  first_sequence_ = db_->GetLatestSequenceNumber();
}

void RowLoader::Put(std::string_view key, std::string_view value) {
  term::CheckOk(batch_.Put(family_, key, value), kCannotWrite, target_.path);
  if (batch_.GetDataSize() >= kBatchBytes) WriteBatch();
}

void RowLoader::WriteBatch() {
  rocksdb::WriteOptions options;
  // Rows become durable in Flush, not before.
  options.disableWAL = true;
  term::CheckOk(db_->Write(options, &batch_), kCannotWrite, target_.path);
  batch_.Clear();
}

void RowLoader::Flush() {
  if (batch_.Count() != 0) WriteBatch();
  rocksdb::Status status = db_->Flush(rocksdb::FlushOptions(), family_);
  // If a compaction filled the disk, its files are gone by now.
  if (!status.ok() && db_->Resume().ok()) status = db_->Flush(rocksdb::FlushOptions(), family_);
  term::CheckOk(status, kCannotWrite, target_.path);
}

uint64_t RowLoader::CountRows() const {
  rocksdb::TablePropertiesCollection files;
  term::CheckOk(rocksdb_plugin::ReadTableProperties(db_.get(), family_, &files),
                "cannot read the properties of database {}", target_.path);
  rocksdb::ColumnFamilyMetaData tree;
  db_->GetColumnFamilyMetaData(family_, &tree);
  size_t num_runs = 0;
  for (const rocksdb::LevelMetaData& level : tree.levels) {
    num_runs += level.level == 0 ? level.files.size() : !level.files.empty();
  }
  uint64_t num_puts = 0;
  uint64_t num_others = 0;
  for (const auto& [path, properties] : files) {
    num_others += properties->num_deletions + properties->num_merge_operands;
    num_puts += properties->num_entries;
  }
  uint64_t num_in_memory = 1;
  db_->GetIntProperty(family_, rocksdb::DB::Properties::kNumEntriesActiveMemTable, &num_in_memory);
  // One run has one version of each key.
  if (num_runs <= 1 && num_others == 0 && num_in_memory == 0) return num_puts;
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> row(db_->NewIterator(options, family_));
  uint64_t count = 0;
  for (row->SeekToFirst(); row->Valid(); row->Next(), ++count) term::CheckInterrupt();
  term::CheckOk(row->status(), "cannot count the rows of database {}", target_.path);
  return count;
}

IndexSizes RowLoader::SizesOfIndexes() const {
  rocksdb::TablePropertiesCollection files;
  term::CheckOk(rocksdb_plugin::ReadTableProperties(db_.get(), family_, &files),
                "cannot read the properties of database {}", target_.path);
  IndexSizes sizes{.num_files = files.size()};
  for (const auto& [path, properties] : files) {
    const rocksdb_plugin::SstIndex file(properties, {db_->GetEnv()->GetFileSystem(), path});
    if (file.index() != nullptr) {
      ++sizes.files_with_index;
      sizes.index_bytes += file.index()->index_bytes();
    }
    uint64_t needed = 0;
    const auto& user = properties->user_collected_properties;
    if (rocksdb_plugin::FromText(
            std::string(rocksdb_plugin::FindProperty(user, rocksdb_plugin::kNeededProperty)),
            &needed)) {
      sizes.needed_index_bytes = std::max(sizes.needed_index_bytes, needed);
    }
  }
  return sizes;
}

uint64_t RowLoader::rows_durable() const {
  const uint64_t flushed = flushes_->largest_sequence;
  return flushed > first_sequence_ ? flushed - first_sequence_ : 0;
}

bool RowLoader::Compact(const std::function<void(uint64_t done, uint64_t all)>& progress) {
  rocksdb::CompactRangeOptions options;
  options.canceled = &term::InterruptFlag();
  // Files of the last level may also lack an index.
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  rocksdb::ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(family_, &metadata);
  const rocksdb::Status status = db_.Compact(
      [&] { return db_->CompactRange(options, family_, nullptr, nullptr); },
      [&](uint64_t written) { progress(std::min(written, metadata.size), metadata.size); });
  if (status.IsIncomplete() && term::InterruptFlag()) return false;
  term::CheckOk(status, "cannot compact database {}", target_.path);
  return true;
}

}  // namespace blocksieve::cli
