#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/column.h"
#include "blocksieve/predicate.h"
#include "blocksieve/query.h"
#include "blocksieve/skip_index_explanation.h"
#include "blocksieve/skip_index_summary.h"
#include "integration/cli/engine/filter_setting.h"
#include "integration/cli/engine/table_file.h"

// What the subcommands need from a storage engine. Each engine implements it in a folder of its
// own; all report indexes and scans in the same form. Everything here throws Failure and
// UsageError.

namespace blocksieve::cli {

struct LoadTarget {
  std::string path;
  std::vector<Column> columns;  ///< To be indexed, in addition to those that the database indexes.
  uint64_t granule_rows = 0;    ///< 0: the engine's default.
  double target_fpr = 0;        ///< Of the indexes.

  /// Of the index of one file; nothing: the engine's default.
  std::optional<uint64_t> max_index_bytes;

  /// Key filters answer for ranges with this rate; nothing: as the database has it so far.
  std::optional<double> range_fpr;
};

/// A database that rows are loaded into.
class LoadedDatabase {
 public:
  virtual ~LoadedDatabase() = default;

  /// What became of the indexes that the database had, in sentences.
  const std::vector<std::string>& notes() const { return notes_; }

  /// Of equal keys the last one wins. Rows are durable once Flush has returned.
  virtual void Put(std::string_view key, std::string_view value) = 0;
  virtual void Flush() = 0;

  /// The database had no rows when it was opened.
  virtual bool is_new() const = 0;

  /// So many rows that were put, from the first on, are in the database whatever happens. All of
  /// them once Flush has returned; fewer after a failure.
  virtual uint64_t rows_durable() const = 0;

  /// Of the whole database, if it is known without reading all of it, as after Compact.
  virtual std::optional<uint64_t> NumRows() = 0;

  /// Rewrites all files, into as few as the engine makes of them, with the indexes. Returns false
  /// if it was interrupted. `progress` is called now and then with the bytes that are written, and
  /// an estimate of all that will be.
  using CompactionProgress = std::function<void(uint64_t done, uint64_t all)>;
  virtual bool Compact(const CompactionProgress& progress) = 0;

  virtual SkipIndexSummary Indexes() const = 0;

 protected:
  std::vector<std::string> notes_;
};

/// The columns that new files of a database are to index: the wanted ones, and those that the
/// database indexes already, which compaction would drop otherwise. Where both have the same name,
/// the wanted one. Appends to `*notes` what becomes of the database's own.
std::vector<Column> WithKeptColumns(std::vector<Column> wanted, const SkipIndexSummary& present,
                                    std::vector<std::string>* notes);

struct ScanRequest {
  uint64_t limit = 0;  ///< The most rows to return; 0: all.
  bool reverse = false;
  std::optional<ScanOrder> order;  ///< Instead of that of keys; takes a limit.
  bool counts = false;             ///< Rows may be in rows_counted of Explain() instead.
  bool use_index = true;
  bool explain = false;                                  ///< Count what Explain reports.
  std::function<void(const ScanExplanation&)> progress;  ///< Called now and then, if set.
};

/// The rows that match a predicate, in key order.
class RowScan {
 public:
  virtual ~RowScan() = default;

  virtual bool Valid() const = 0;
  /// REQUIRES: Valid(), as for key and value, which are valid until the next call.
  virtual void Next() = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;

  /// Why the scan ended before the last row; empty: it did not.
  virtual std::string problem() const = 0;

  virtual ScanExplanation Explain() const = 0;
};

/// A database opened for reading. Nothing is written, and another process may have it open.
class ReadDatabase {
 public:
  virtual ~ReadDatabase() = default;

  virtual SkipIndexSummary Indexes() = 0;

  /// The database must outlive it.
  virtual std::unique_ptr<RowScan> Scan(const Predicate& predicate, const ScanRequest& request) = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  /// As in --engine.
  virtual std::string_view name() const = 0;

  /// Opens the database, or creates it in a directory that is missing or empty.
  virtual std::unique_ptr<LoadedDatabase> Load(const LoadTarget& target) const = 0;

  // `path` is the directory of a database of this engine, as EngineOf found it.

  virtual std::unique_ptr<ReadDatabase> Open(const std::string& path) const = 0;

  /// The files of the database, by column family and level, those of level 0 from the newest to
  /// the oldest. Some may be missing or damaged.
  virtual std::vector<FilePlace> ListFiles(const std::string& path) const = 0;

  /// Null if the file no longer exists.
  virtual std::unique_ptr<TableFile> OpenFile(const FilePlace& place) const = 0;

  /// What the options of the database say about the rates of its filters.
  virtual AskedRatesByFamily RatesAskedFor(const std::string& path) const = 0;

  /// Whether the options of the database name a plug-in that builds its filters, or did so lately:
  /// a process without it forgets them.
  virtual bool NamesPlugin(const std::string& path) const = 0;

  /// What to write into the options of a database so that its filters are built by this setting.
  virtual std::string OptionFor(const FilterSetting& setting) const = 0;

  /// How to get there, step by step, for people. `family`: empty if there is only one.
  virtual std::string StepsFor(const FilterSetting& setting, const std::string& path,
                               const std::string& family) const = 0;

  /// A complete file of the database's options with these settings of column families. Throws
  /// Failure if this engine has none.
  virtual std::string OptionsFileWith(const std::map<std::string, FilterSetting>& settings,
                                      const std::string& path) const = 0;

  /// Whether filters of a tree without level 0 leave memory for a file there; see PlannedTree.
  virtual bool AllotsEmptyLevel0() const = 0;

  /// The most precise rate that a file's filter gets where memory is spread over the levels of a
  /// tree that wastes so many reads per lookup; 0: there is no limit.
  virtual double LeastRate(FilterKind kind, double wasted_reads) const = 0;

  /// The least share of the lookups for which memory is spread over runs; 1 if this engine takes
  /// all lookups to ask all runs.
  virtual double LeastShareOfLookups() const = 0;

  /// As OptionFor, of filters that answer for ranges, too, and have the same rates in all files:
  /// lines.
  virtual std::vector<std::string> RangeOptionsFor(double target_fpr, double range_fpr) const = 0;

  /// The size of the block cache of a database, as far as its stored options say: 0 without one;
  /// otherwise that of the cache which it has unless its program sets another.
  virtual uint64_t CacheBytes(const std::string& path) const = 0;

  /// Whether a file of this engine can end so. `end`: its last kFileEndBytes, or all of a shorter
  /// file.
  static constexpr uint64_t kFileEndBytes = 64;
  virtual bool IsFile(ByteView end) const = 0;
};

const Engine& RocksDbEngine();
const Engine& ToyLsmEngine();

// `name` is that of an engine, or empty: whichever fits.

/// The engine of the database in the directory `path`.
/// Throws UsageError if `name` is another engine's; Failure if there is no database, or it cannot
/// be looked at.
const Engine& EngineOf(const std::string& path, const std::string& name);

/// The engine of a single file. Throws like EngineOf.
const Engine& EngineOfFile(const std::string& path, const std::string& name);

/// Like EngineOf, but where there is nothing yet: the named engine, by default rocksdb.
const Engine& EngineFor(const std::string& path, const std::string& name);

}  // namespace blocksieve::cli
