#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/statistics.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/utilities/transaction_db.h>

#include <map>
#include <memory>
#include <source_location>
#include <vector>

#include "blocksieve/rocksdb/enable.h"
#include "integration/rocksdb/compat/user_index.h"
#include "tests/support/param_names.h"
#include "tests/support/temp_dir.h"

namespace blocksieve::testing {

/// Aborts with a message unless ok, for steps that are not under test. `what` tells steps of one
/// line of code apart.
void MustBeOk(const rocksdb::Status& status, const std::string& what = "",
              const std::source_location& caller = std::source_location::current());

/// Whether a file has one filter, or one per partition.
enum class FilterShape { kFull, kPartitioned };

inline std::string NameOf(FilterShape shape) {
  return shape == FilterShape::kFull ? "Full" : "Partitioned";
}
inline const auto kBothShapes = ::testing::Values(FilterShape::kFull, FilterShape::kPartitioned);

/// The options for opening a database. ToOptions sets the table factory.
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

/// The policy of these options, which are valid.
inline std::shared_ptr<const rocksdb::FilterPolicy> NewPolicy(const EnableOptions& options = {}) {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  MustBeOk(NewFilterPolicy(options, &policy));
  return policy;
}

/// Enables the features, which are allowed.
inline void UseFeatures(const EnableOptions& features, DbConfig* config) {
  config->options = config->ToOptions();
  MustBeOk(Enable(&config->options, features));
  config->table = *config->options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
}

/// Whether RocksDB has block indexes; if not, tests of them are left out.
inline constexpr bool kHasBlockIndexes = BLOCKSIEVE_HAS_USER_INDEX;

/// Gives new files a block index, without a listener. `is_primary`: all files must have it, and all
/// reads use it.
template <class Table = rocksdb::BlockBasedTableOptions>
void UseBlockIndex(EnableOptions features, bool is_primary, DbConfig* config) {
  rocksdb::ColumnFamilyOptions family(config->ToOptions());
  features.carrier = Carrier::kBlockIndex;
  MustBeOk(Enable(&family, features));
  Table table = *family.table_factory->GetOptions<Table>();
  if constexpr (requires { table.use_udi_as_primary_index; }) {
    table.use_udi_as_primary_index = is_primary;
  }
  table.filter_policy = config->table.filter_policy;
  config->table = table;
  config->options.table_properties_collector_factories =
      family.table_properties_collector_factories;
}

/// Adds prefixes of this many bytes to filters, with or without whole keys.
void UsePrefixes(DbConfig* config, size_t bytes, bool whole_keys = true);

/// Sets RocksDB's merge operator of this name, such as "put" or "stringappend".
void UseMergeOperator(DbConfig* config, const std::string& name);

/// A policy from its option string. Aborts if it does not exist.
std::shared_ptr<const rocksdb::FilterPolicy> PolicyFromString(const std::string& text);

/// Abort if the database cannot be opened.
std::unique_ptr<rocksdb::DB> OpenDb(const rocksdb::Options& options, const std::string& path);
std::unique_ptr<rocksdb::DB> OpenReadOnly(const rocksdb::Options& options, const std::string& path);
std::unique_ptr<rocksdb::DB> OpenSecondary(const rocksdb::Options& options, const std::string& path,
                                           const std::string& secondary_path);

std::unique_ptr<rocksdb::TransactionDB> OpenTransactionDb(const rocksdb::Options& options,
                                                          rocksdb::TxnDBWritePolicy policy,
                                                          const std::string& path);

/// Refuses unknown options, unlike RocksDB when it opens a database with its OPTIONS file.
rocksdb::ConfigOptions StrictConfig();

/// All settings of options, without the addresses of objects.
std::string DumpOptions(const rocksdb::Options& options);

/// The options in the latest OPTIONS file of a database. Aborts if it cannot be read.
struct StoredOptions {
  explicit StoredOptions(const std::string& db_path);

  rocksdb::DBOptions db;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;

  const rocksdb::ColumnFamilyOptions& column_family() const { return families.at(0).options; }
  std::shared_ptr<const rocksdb::FilterPolicy> filter_policy() const;
};

/// RocksDB's counters of filters.
struct FilterUse {
  uint64_t rejected = 0;        ///< Probes by Gets that a filter answered "no".
  uint64_t passed = 0;          ///< Probes by Gets that it answered "may match".
  uint64_t passed_present = 0;  ///< Of these, probes of present keys.

  uint64_t absent() const { return passed - passed_present + rejected; }
  double fpr() const {
    return static_cast<double>(passed - passed_present) / static_cast<double>(absent());
  }
};
FilterUse FilterUseSoFar(const rocksdb::Statistics& statistics);

/// A database in its own directory, with a map of its expected rows.
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

  // Writes to the database and the model. They abort if RocksDB returns an error.
  void Put(const std::string& key, const std::string& value);
  void Delete(const std::string& key);
  void MergeAppend(const std::string& key, const std::string& operand);  // with "stringappend"
  void Flush();
  void Compact();
  /// Compacts the files of level 0 into another level.
  void CompactInto(int level);

  void Fill(const std::vector<std::string>& keys, const std::string& value = "value") {
    for (const std::string& key : keys) Put(key, value);
    Flush();
  }

  rocksdb::DB* operator->() { return db_.get(); }
  rocksdb::DB& db() { return *db_; }
  const Model& model() const { return model_; }
  std::string path() const { return dir_ / "db"; }
  const TempDir& dir() const { return dir_; }

  /// Counts since the database was opened (with its own statistics).
  FilterUse Use() const { return FilterUseSoFar(*statistics_); }
  void ResetUse() { statistics_->Reset(); }

  /// Size in bytes of the filters of all files.
  uint64_t FilterBytes();

 private:
  TempDir dir_;
  Model model_;
  std::shared_ptr<rocksdb::Statistics> statistics_;
  std::unique_ptr<rocksdb::DB> db_;
};

/// Aborts if it cannot be created.
std::unique_ptr<rocksdb::Checkpoint> NewCheckpoint(rocksdb::DB* db);

/// Properties of all files, by path.
rocksdb::TablePropertiesCollection FilesOf(rocksdb::DB& db);

/// Writes a file of rows for ingestion.
void WriteSst(const rocksdb::Options& options, const std::string& path, const TestDb::Model& rows);

/// Waits until no flush or compaction runs or is pending.
void WaitForCompactions(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family = nullptr);

/// The rows that an iterator with these options shows.
TestDb::Model ReadRows(rocksdb::DB* db, const rocksdb::ReadOptions& read = {});

/// Backs a database up to a directory, and restores it as the database `to`.
void BackUp(rocksdb::DB* db, const std::string& directory, const std::string& to);

// Comparisons of a database with a map of its expected rows. Each returns a description of the
// first difference, or "": EXPECT_EQ(CheckGets(...), "").

/// Checks Get of every key of the model, and of every absent key.
std::string CheckGets(rocksdb::DB* db, const TestDb::Model& model,
                      const std::vector<std::string>& absent);

/// CheckGets, and iteration over all rows. Other reads: RandomDatabaseTest.
std::string CheckReads(rocksdb::DB* db, const TestDb::Model& model,
                       const std::vector<std::string>& absent);

}  // namespace blocksieve::testing
