#pragma once

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/support/param_names.h"
#include "tests/support/temp_dir.h"

namespace blocksieve::testing {

/// Whether a file has one filter, or one per partition.
enum class FilterShape { kFull, kPartitioned };

inline std::string NameOf(FilterShape shape) {
  return shape == FilterShape::kFull ? "Full" : "Partitioned";
}
inline const auto kBothShapes = ::testing::Values(FilterShape::kFull, FilterShape::kPartitioned);

/// What a database is opened with. The table options are put into the options at that moment.
struct DbConfig {
  rocksdb::Options options;
  rocksdb::BlockBasedTableOptions table;

  rocksdb::Options ToOptions() const;
};

/// An environment that syncs nothing (faulty_disks.h). Lives as long as the process.
rocksdb::Env* UnsyncedEnv();

/// Statistics on, automatic compaction off, no compression, no syncs; for partitioned filters,
/// small partitions, so that a file has many.
DbConfig MakeConfig(FilterShape shape, std::shared_ptr<const rocksdb::FilterPolicy> policy);

/// Filters get prefixes of so many bytes, and whole keys if asked for.
void UsePrefixes(DbConfig* config, size_t bytes, bool whole_keys = true);

/// RocksDB's own merge operator of that name, such as "put" or "stringappend".
void UseMergeOperator(DbConfig* config, const std::string& name);

/// A policy by its option string, as an OPTIONS file names it. Aborts if there is none.
std::shared_ptr<const rocksdb::FilterPolicy> PolicyFromString(const std::string& text);

/// Abort if the database cannot be opened.
std::unique_ptr<rocksdb::DB> OpenDb(const rocksdb::Options& options, const std::string& path);
std::unique_ptr<rocksdb::DB> OpenReadOnly(const rocksdb::Options& options, const std::string& path);
std::unique_ptr<rocksdb::DB> OpenSecondary(const rocksdb::Options& options, const std::string& path,
                                           const std::string& secondary_path);

/// Refuses what it does not know, unlike RocksDB when it opens a database by its OPTIONS file.
rocksdb::ConfigOptions StrictConfig();

/// All that is set in options, but for the addresses of objects.
std::string TextOf(const rocksdb::Options& options);

/// What the latest OPTIONS file of a database says. Aborts if it cannot be read.
struct StoredOptions {
  explicit StoredOptions(const std::string& db_path);

  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;

  const rocksdb::ColumnFamilyOptions& column_family() const { return families.at(0).options; }
  std::shared_ptr<const rocksdb::FilterPolicy> filter_policy() const;
};

/// What filters did, by RocksDB's own counters.
struct FilterUse {
  uint64_t rejected = 0;         ///< Probes by Gets that a filter answered "no".
  uint64_t passed = 0;           ///< Those that it answered "may match".
  uint64_t passed_present = 0;   ///< Of these, those whose key was there.
  uint64_t prefix_checked = 0;   ///< Probes of prefixes by iterators; since 8.3 also by Gets.
  uint64_t prefix_rejected = 0;  ///< Of these, those that were answered "no".

  /// A test that sees none of these has not tested a filter.
  uint64_t all_rejected() const { return rejected + prefix_rejected; }

  uint64_t absent() const { return passed - passed_present + rejected; }
  double fpr() const {
    return static_cast<double>(passed - passed_present) / static_cast<double>(absent());
  }
};
FilterUse FilterUseSoFar(const rocksdb::Statistics& statistics);

/// A database in a directory of its own, with a map of what must be in it.
class TestDb {
 public:
  using Model = std::map<std::string, std::string>;

  explicit TestDb(const DbConfig& config) { Open(config); }
  ~TestDb() { Close(); }

  void Close() { db_.reset(); }
  void Open(const DbConfig& config);
  void Reopen(const DbConfig& config) {
    Close();
    Open(config);
  }

  // Writes, applied to the model as well. They abort if RocksDB reports an error.
  void Put(const std::string& key, const std::string& value);
  void Delete(const std::string& key);
  void SingleDelete(const std::string& key);
  void DeleteRange(const std::string& begin, const std::string& end);    // bytewise order
  void MergeAppend(const std::string& key, const std::string& operand);  // with "stringappend"
  void Flush();
  void Compact();

  void PutAll(const std::vector<std::string>& keys, const std::string& value);
  void Fill(const std::vector<std::string>& keys, const std::string& value = "value") {
    PutAll(keys, value);
    Flush();
  }

  rocksdb::DB* operator->() { return db_.get(); }
  rocksdb::DB& db() { return *db_; }
  const Model& model() const { return model_; }
  std::string path() const { return dir_ / "db"; }
  const TempDir& dir() const { return dir_; }

  /// Since the database was opened (with statistics of its own).
  FilterUse Use() const { return FilterUseSoFar(*statistics_); }
  void ResetUse() { statistics_->Reset(); }

  /// Table property filter_policy of all files.
  std::set<std::string> FilterPolicyNames();

  /// Bytes of filters, and number of entries in them, of all files.
  uint64_t FilterBytes();
  uint64_t FilterEntries();

 private:
  TempDir dir_;
  Model model_;
  std::shared_ptr<rocksdb::Statistics> statistics_;
  std::unique_ptr<rocksdb::DB> db_;
};

/// Aborts if there is none.
std::unique_ptr<rocksdb::Checkpoint> NewCheckpoint(rocksdb::DB* db);

/// Properties of all files, by their paths.
rocksdb::TablePropertiesCollection FilesOf(rocksdb::DB& db);

/// A file of rows to ingest.
void WriteSst(const rocksdb::Options& options, const std::string& path, const TestDb::Model& rows);

/// Aborts with a message unless ok: for steps that a test does not test.
void MustBeOk(const rocksdb::Status& status, const std::string& what);

}  // namespace blocksieve::testing
