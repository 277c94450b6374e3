// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/listener.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <new>
#include <set>

#include "blocksieve/rocksdb.h"
#include "integration/cli/commands/options.h"
#include "integration/cli/maintenance/options_change.h"
#include "integration/cli/maintenance/skip_indexes.h"
#include "integration/cli/rows/rows.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/table_properties.h"
#include "integration/rocksdb/index/skip_index_catalog.h"
#include "integration/rocksdb/policy/policy.h"

namespace blocksieve::cli {
namespace {

using term::CountOf;
using term::WithCommas;

constexpr const char* kLoadFooter =
    R"help(Reads FILE line by line. One field of each line becomes the key. The other fields, in order and
joined by the delimiter, become the value.

Indexes. --index NAME=EXTRACTOR indexes a part of the value under a column name. Fields of the value
are numbered from 1, as for blocksieve index; with --key 1, field 1 of the value is field 2 of FILE:
  field:2                the bytes of field 2
  int:5 uint:5 float:6   the number in a field
  words:3 ngrams(4):3    the words, or the 4-grams, of the text in a field, for HAS and LIKE
  folded:2 words:folded:3 ngrams(4):folded:3   the same without regard to case: 'Error' is 'ERROR'
  field[;]:3             an array: the elements of a field, separated by ';'; also int:field[;]:3
  value json:/a/b        the whole value; a member of a value that is JSON
  int:json:/a words:json:/a/b words:value fixed(8,4) uint32le(8)
A word ends at blanks, punctuation and control characters of Unicode, and at ASCII symbols like +.
An index has filters, for = and IN and HAS, and bounds (one or two intervals for each granule), for <,
BETWEEN and ORDER BY. bounds:int:3 has only bounds, filters:field:2 only filters. A numeric column
whose bounds find nearly every value gets no filters, unless both:int:3 forces them. If the index of
a file exceeds --max-index-bytes, its largest filters are left out, and a warning names the limit.
blocksieve inspect shows the sizes.

Input. Lines may hold any bytes and have no quoting. With --format csv, FILE is CSV (RFC 4180):
quoted fields may contain delimiters, doubled quotes and line breaks, and lines may end with CR LF.
If a key occurs more than once, the last row wins. load stops at an empty line or a line without the
key field, or if the disk is full, and reports how many rows from the start of FILE are durable. A
row without the field of an index has no value in that column (IS NULL).

Existing databases. Rows are added, to a new column family if --column-family names one that does
not exist, and existing indexes are kept; a new index replaces one of the same name. At the end load
compacts the whole column family, so that all files have the indexes. That takes long for a large
one; --no-compact leaves it out. Large indexes are stored in files beside the SSTs (see blocksieve
index --help).

Examples:
  blocksieve load --db paths.db --key 1 --index pkg=field:1 --index words=words:2 paths.tsv
  blocksieve load --db stock.db --key 1 --filter-policy bloomfilter:10:false paths.tsv
  blocksieve load --db log.db --key 1 --delimiter , --index code=int:2 --index size=uint:3 log.csv
  blocksieve load --db csv.db --key 1 --format csv --header --index code=int:2 log.csv
  blocksieve load --db times.db --key 1 --range-fpr 0.01 --delimiter , log.csv
  zcat docs.gz | blocksieve load --db docs.db --key 1 --index age=int:json:/age -)help";

constexpr size_t kBatchBytes = 1 << 20;
constexpr const char* kCannotWrite = "cannot write database {}";
constexpr const char* kFormats = "text|json|csv";

struct LoadOptions : TargetOptions {
  IndexChange index;
  // Of new files; without both, as the database has them, or else blocksieve's.
  std::optional<double> range_fpr;    // of range filters
  std::optional<std::string> policy;  // for a new column family
  RowReaderOptions reader;
  std::vector<std::string> indexes;
  std::optional<std::string> delimiter;
  std::optional<std::string> store_delimiter;
  bool no_compact = false;
  std::vector<std::string> formats;  // of the file, and of the report
};

struct IndexSizes {
  uint64_t num_files = 0;
  uint64_t files_with_index = 0;
  uint64_t index_bytes = 0;
  /// The max_index_bytes that leaves out nothing in any file; 0: nothing was left out, or unknown.
  uint64_t needed_index_bytes = 0;
};
BLOCKSIEVE_TO_JSON(IndexSizes, num_files, files_with_index, index_bytes, needed_index_bytes)

// Writes to standard error: "blocksieve load: TEXT".
void SayOnLoading(const std::string& text) {
  term::WriteToStandardError("blocksieve load: " + text + "\n");
}

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
void AddFilters(const LoadOptions& given, rocksdb::ColumnFamilyOptions options,
                OptionsText* edited) {
  const std::string& family = *given.target.family;
  if (given.policy) return PutOption("filter_policy=" + *given.policy, {family}, edited);
  const std::optional<double>& range_fpr = given.range_fpr;
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

/// A database open for loading rows into a column family, which it adds. Not thread-safe.
/// Everything throws Failure.
class RowLoader {
 public:
  /// Opens the database, or creates it in a missing or empty directory. Says what happens to the
  /// existing indexes. Also throws UsageError. REQUIRES: options.target.family
  explicit RowLoader(const LoadOptions& options)
      : target_(options.target),
        flushes_(std::make_shared<FlushListener>(*target_.family)),
        db_(Open(options)),
        family_(db_.FindHandle(*target_.family)),
        first_sequence_(db_->GetLatestSequenceNumber()) {}

  /// Overwrites an earlier row with the same key. Rows are durable once Flush has returned.
  void Put(std::string_view key, std::string_view value) {
    term::CheckOk(batch_.Put(family_, key, value), kCannotWrite, target_.path);
    if (batch_.GetDataSize() >= kBatchBytes) WriteBatch();
  }

  void Flush() {
    if (batch_.Count() != 0) WriteBatch();
    rocksdb::Status status = db_->Flush(rocksdb::FlushOptions(), family_);
    // If a compaction filled the disk, its files are gone by now.
    if (!status.ok() && db_->Resume().ok()) status = db_->Flush(rocksdb::FlushOptions(), family_);
    term::CheckOk(status, kCannotWrite, target_.path);
  }

  /// The number of rows, from the first Put, that no crash can lose: all of them after Flush
  /// returned, fewer after a failure.
  uint64_t rows_durable() const {
    const uint64_t flushed = flushes_->largest_sequence;
    return flushed > first_sequence_ ? flushed - first_sequence_ : 0;
  }

  /// Compacts the whole database, so that all files have the indexes.
  void Compact() const {
    rocksdb::CompactRangeOptions options;
    options.canceled = &term::InterruptFlag();
    // Files of the last level may also lack an index.
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    rocksdb::ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(family_, &metadata);
    term::Progress progress;
    progress.Show("compacting");
    const rocksdb::Status status =
        db_.Compact([&] { return db_->CompactRange(options, family_, nullptr, nullptr); },
                    [&](uint64_t written) {
                      const uint64_t done = std::min(written, metadata.size);
                      progress.Show("compacting", done, metadata.size, done, "byte");
                    });
    if (status.IsIncomplete() && term::InterruptFlag()) {
      throw term::Interrupted("interrupted; all rows are loaded, but not compacted");
    }
    if (status.ok()) return;
    term::Fail("cannot compact database {}: {}; all rows are loaded and durable, but not compacted",
               target_.path, status.ToString());
  }

  bool HasValues(const Column& column) const { return cli::HasValues(db_, family_, column); }

  /// The number of rows in the column family. Reads them all, unless they were just compacted.
  uint64_t CountRows() const {
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
    db_->GetIntProperty(family_, rocksdb::DB::Properties::kNumEntriesActiveMemTable,
                        &num_in_memory);
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

  /// The indexes of all files of the column family.
  IndexSizes SizesOfIndexes() const {
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

 private:
  /// Records the last flushed sequence number; 0 before the first flush.
  struct FlushListener final : rocksdb::EventListener {
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
  GuardedDb Open(const LoadOptions& given) {
    const std::string& family_name = *target_.family;
    CheckPlaceForDatabase(target_);
    const bool is_created = !HasRocksDb(target_);
    StoredDatabase before = is_created ? StoredDatabase{target_} : ReadStored(target_);
    const bool has_text = before.text.has_value();  // otherwise RocksDB writes it
    if (!has_text) {
      before = WithText(target_, DefaultText(is_created ? std::vector<std::string>{"default"}
                                                        : before.Families()));
    }
    OptionsText edited = *before.text;
    StoredDatabase stored = before;
    if (stored.Find(family_name) == nullptr) {
      const std::vector<std::string> named = edited.Families();  // also one that was dropped
      if (std::ranges::find(named, family_name) == named.end()) edited.AddFamily(family_name);
      stored = WithText(target_, edited);
    } else if (!is_created) {
      if (given.policy) {
        term::FailUsage(
            "--filter-policy is {}; allowed: only with a new column family; {} of {} has "
            "filter_policy {}, which blocksieve revert or apply changes",
            *given.policy, family_name, target_.path, stored.Policy(family_name));
      }
      CheckWritable(stored, Access::kLoad);
      const GuardedDb db = OpenReadOnly(target_, family_name);
      const auto present = PresentIndex(stored, family_name);
      SayWhatStays(present ? present->index.columns : ColumnList(), given.index.columns,
                   ColumnsInFiles(db, family_name));
    }
    IndexChange change = given.index;
    change.info_log = std::make_shared<LineLog>(PrintReport);
    const auto factory = NewIndexFactory(before, family_name, change);
    if (factory != nullptr) {
      PutCollectors(family_name, {factory}, &edited);
      PutOption("listeners=blocksieve", {}, &edited);  // for sidecars
    }
    const rocksdb::ColumnFamilyOptions& family = *stored.Find(family_name);
    if (family.comparator->timestamp_size() != 0) {
      term::Fail(
          "cannot load into database {}: its keys have timestamps, but input lines have none",
          target_.path);
    }
    AddFilters(given, family, &edited);
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

  void WriteBatch() {
    rocksdb::WriteOptions options;
    // Rows become durable in Flush, not before.
    options.disableWAL = true;
    term::CheckOk(db_->Write(options, &batch_), kCannotWrite, target_.path);
    batch_.Clear();
  }

  const Target target_;
  const std::shared_ptr<FlushListener> flushes_;
  const GuardedDb db_;
  rocksdb::ColumnFamilyHandle* const family_;
  rocksdb::WriteBatch batch_;
  const uint64_t first_sequence_;  // the last one before the first Put; each Put takes one
};

struct Loaded {
  uint64_t rows_read = 0;
  uint64_t bytes = 0;   // keys and values
  std::string problem;  // why loading stopped before the end of the file, or empty
};

// Loads until the end of the file or the first problem; what was loaded is then durable.
Loaded Load(RowReader* reader, RowLoader* database) {
  constexpr uint64_t kRowsBetweenChecks = 1024;
  Loaded loaded;
  try {
    term::Progress progress;
    std::string_view key;
    std::string value;
    while (reader->Next(&key, &value)) {
      database->Put(key, value);
      ++loaded.rows_read;
      loaded.bytes += key.size() + value.size();
      if (loaded.rows_read % kRowsBetweenChecks != 0) continue;
      if (term::InterruptFlag()) break;
      progress.Show("loading", reader->bytes_read(), reader->file_bytes(), loaded.rows_read, "row");
    }
    if (term::InterruptFlag()) loaded.problem = "interrupted";
  } catch (const term::Failure& failure) {
    loaded.problem = failure.what();
  }
  try {
    database->Flush();
  } catch (const term::Failure& failure) {
    if (loaded.problem.empty()) loaded.problem = failure.what();
  }
  return loaded;
}

// Warns of possible mistakes: indexes that exceed --max-index-bytes, with the limit that would keep
// them; columns without any value; lines that end with CR.
void WarnOfMistakes(const Loaded& loaded, uint64_t rows_with_cr, const IndexSizes& sizes,
                    const std::vector<Column>& columns, const RowLoader& database) {
  if (sizes.needed_index_bytes != 0) {
    SayOnLoading(fmt::format(
        "warning: filters, bounds or whole indexes were left out because of their size; "
        "--max-index-bytes {} would keep everything",
        sizes.needed_index_bytes));
  }
  for (const Column& column : columns) {
    if (loaded.rows_read == 0 || database.HasValues(column)) continue;
    SayOnLoading("warning: no row has a value for the index " + column.ToText());
  }
  if (rows_with_cr != 0) {
    SayOnLoading(fmt::format(
        "warning: {} with CR, which is stored in the last field; --format csv removes it",
        rows_with_cr == 1 ? "1 line ends" : WithCommas(rows_with_cr) + " lines end"));
  }
}

// Reports which rows of an incomplete load are in the database.
[[noreturn]] void FailWith(const Loaded& loaded, const RowLoader& database) {
  const uint64_t kept = database.rows_durable();
  const std::string message = fmt::format(
      "{}; the first {} of the file are in the database, not compacted; later rows are not in it",
      loaded.problem, CountOf(kept, "row"));
  if (term::InterruptFlag()) throw term::Interrupted(message);
  throw term::Failure(message);
}

void ParseDelimiters(LoadOptions* options) {
  RowReaderOptions& reader = options->reader;
  const bool is_csv = reader.is_csv;
  reader.delimiter =
      ParseDelimiter(options->delimiter.value_or(is_csv ? "," : "\t"), "--delimiter");
  if (options->store_delimiter && !is_csv) {
    term::FailUsage("--store-delimiter is {}; allowed: only with --format csv",
                    *options->store_delimiter);
  }
  reader.stored_delimiter =
      is_csv ? ParseDelimiter(options->store_delimiter.value_or("\t"), "--store-delimiter")
             : reader.delimiter;
}

void RunLoad(const LoadOptions& given) {
  LoadOptions options = given;
  for (const std::string& each : options.formats) {
    options.reader.is_csv |= each == "csv";
    if (each != "csv") options.format = each;
  }
  ParseDelimiters(&options);
  IndexChange& index = options.index;
  index.columns = ParseColumns(options.indexes, options.reader.stored_delimiter);
  // Opened before the database, so that a missing file leaves no empty database.
  RowReader reader(options.reader);
  term::CatchInterrupts();
  RowLoader database(options);
  for (const Column& column : index.columns) {
    const std::string text = Predicate::ColumnText(column);
    if (text != column.name())
      SayOnLoading("in conditions, write the column in double quotes: " + text);
  }

  std::optional<uint64_t> replaced;
  std::optional<uint64_t> kept;
  if (!options.no_compact) replaced = database.CountRows();
  Loaded loaded = Load(&reader, &database);
  if (!loaded.problem.empty()) FailWith(loaded, database);
  if (replaced) {
    database.Compact();
    kept = database.CountRows();
    *replaced = *replaced + loaded.rows_read - *kept;
  }

  const IndexSizes sizes = database.SizesOfIndexes();
  Json document = {{"rows_read", loaded.rows_read},
                   {"rows_replaced", OrNull(replaced)},
                   {"rows_kept", OrNull(kept)},
                   {"num_bytes", loaded.bytes}};
  const std::string rows = replaced ? fmt::format(
                                          "rows replaced by later ones with the same key: {}\n"
                                          "rows in the column family: {}\n",
                                          WithCommas(*replaced), WithCommas(*kept))
                                    : "rows replaced: not counted with --no-compact\n";
  document.update(Json(sizes));
  WriteReport(options.format, document,
              fmt::format("rows read: {}\n{}bytes: {}\nindex bytes: {} in {} of {}\n",
                          WithCommas(loaded.rows_read), rows, WithCommas(loaded.bytes),
                          WithCommas(sizes.index_bytes), WithCommas(sizes.files_with_index),
                          CountOf(sizes.num_files, "file")));
  WarnOfMistakes(loaded, reader.rows_with_cr(), sizes, index.columns, database);
}

}  // namespace

void AddLoadCommand(CLI::App* app, Action* action) {
  const auto [command, options] = AddSubcommand(
      app, action, "load", "Load a text or CSV file into a database with skip indexes", kLoadFooter,
      RunLoad);
  AddTargetOptions(command, options, Subject::kFamily, /*formats=*/nullptr);
  AddOption(command, &options->reader.key_field, "--key N", "number of the field that is the key",
            WholeInRange(1, Column::kMaxFieldNumber), kRequired);
  AddOption(command, &options->indexes, "--index NAME=EXTRACTOR",
            "index this part of the value under this name");
  AddOption(command, &options->index.granule_rows, "--granule-rows N",
            "rows per granule, the unit that is read or pruned (default the rows of a data block)",
            WholeInRange(1, std::numeric_limits<uint64_t>::max()));
  AddOption(command, &options->index.target_fpr, "--fpr P",
            fmt::format("false-positive rate of an index, per granule (default {})",
                        SkipIndexOptions().target_fpr),
            InRange(rocksdb_plugin::SkipIndexOptionTable()["target_fpr"]));
  AddMaxIndexBytesOption(command, &options->index.max_index_bytes, "8MiB");
  const auto& range_fpr = rocksdb_plugin::PolicyOptionTable()["range_fpr"];
  AddOption(command, &options->range_fpr, "--range-fpr P",
            "build range filters that pass this share of empty ranges, " + range_fpr.allowed,
            InRange(range_fpr));
  AddOption(command, &options->policy, "--filter-policy POLICY",
            "filters of RocksDB in a new column family, such as bloomfilter:10:false, or nullptr",
            KnownPolicy);
  Exclude(command, "--filter-policy", {"--range-fpr"});
  AddOption(command, &options->delimiter, "--delimiter C",
            R"(field delimiter: one byte, \t, \\ or \xHH (default \t; for CSV a comma))");
  AddOption(command, &options->store_delimiter, "--store-delimiter C",
            R"(for CSV: field delimiter in the stored value (default \t))");
  AddOption(command, &options->reader.skips_header, "--header", "skip the first line or record");
  AddDropOption(command, &options->target);
  AddOption(command, &options->no_compact, "--no-compact",
            "leave the rows in the files as they were flushed");
  AddOption(command, &options->formats, std::string("--format ") + kFormats,
            "json: print the report as JSON; csv: FILE is CSV (RFC 4180)", OneOf(kFormats));
  AddOption(command, &options->reader.file, "FILE", "the input; - is standard input", nullptr,
            kRequired);
}

}  // namespace blocksieve::cli
