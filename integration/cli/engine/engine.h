#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/column.h"
#include "blocksieve/predicate.h"
#include "blocksieve/skip_index_explanation.h"
#include "blocksieve/skip_index_summary.h"
#include "integration/cli/advise/filter_plan.h"
#include "integration/cli/engine/asked_rates.h"
#include "integration/cli/engine/table_file.h"

// What the subcommands need of a storage engine. Each engine has a folder of its own that
// implements it; all report indexes and scans in the same form. Everything here throws Failure and UsageError.

namespace blocksieve::cli {

struct LoadTarget {
  std::string path;
  std::vector<Column> columns;  ///< To be indexed, beside those that the database has already.
  uint64_t granule_rows = 0;    ///< 0: as the engine has them.
  double target_fpr = 0;        ///< Of the indexes.
};

/// A database that rows are loaded into.
class LoadedDatabase {
 public:
  virtual ~LoadedDatabase() = default;

  /// What became of the indexes that the database had, in sentences.
  const std::vector<std::string>& notes() const { return notes_; }

  /// The last one of equal keys wins. Rows last once Flush has returned.
  virtual void Put(std::string_view key, std::string_view value) = 0;
  virtual void Flush() = 0;

  /// Rewrites all files into as few as the engine makes of them, each with the indexes.
  /// Returns false if it was interrupted.
  virtual bool Compact() = 0;

  virtual SkipIndexSummary Indexes() const = 0;

 protected:
  std::vector<std::string> notes_;
};

struct ScanRequest {
  uint64_t limit = 0;  ///< Most rows; 0: all.
  bool reverse = false;
  bool use_index = true;
  bool explain = false;  ///< Count what Explain tells.
};

/// The rows that match a predicate, in key order.
class RowScan {
 public:
  virtual ~RowScan() = default;

  virtual bool Valid() const = 0;
  /// REQUIRE: Valid(). Key and value are valid until Next.
  virtual void Next() = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;

  /// Why it ended before the last row; empty: it did not.
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

  /// REQUIRES: the directory has a database of this engine.
  virtual std::unique_ptr<ReadDatabase> Open(const std::string& path) const = 0;

  /// The files of the database, by column family and level; of level 0 the newest first. Some may
  /// be missing or damaged. REQUIRES: as Open.
  virtual std::vector<FilePlace> ListFiles(const std::string& path) const = 0;

  /// Null if there is no such file any more.
  virtual std::unique_ptr<TableFile> OpenFile(const FilePlace& place) const = 0;

  /// What the options of the database say of the rates of its filters. REQUIRES: as Open.
  virtual AskedRatesByFamily RatesAskedFor(const std::string& path) const = 0;

  /// What to write into the options of a database so that its filters become those of the plan.
  virtual std::string OptionFor(const FilterPlan& plan) const = 0;

  /// Of the block cache that a database has unless it is told otherwise.
  virtual uint64_t DefaultCacheBytes() const = 0;

  /// Whether a file that ends so is one of this engine. `end` has kFileEndBytes, or all of it.
  static constexpr uint64_t kFileEndBytes = 64;
  virtual bool IsFile(ByteView end) const = 0;
};

const Engine& RocksDbEngine();
const Engine& ToyLsmEngine();

}  // namespace blocksieve::cli
