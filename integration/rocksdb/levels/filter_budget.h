#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/listener.h>
#include <rocksdb/metadata.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "blocksieve/tree.h"
#include "integration/rocksdb/compat/open_databases.h"
#include "integration/rocksdb/compat/written_ssts.h"
#include "integration/rocksdb/levels/family_account.h"

// The accounts of filter_memory: what the filters and block indexes of all live files take, by
// column family of each open database, and who may add how much.
//
// A listener reports files and jobs. Sizes of files from before, or from outside, come from their
// table properties. A builder reserves before RocksDB writes its filter. Files of the largest level
// leave what the plan gives to the other levels: a bit per key saves the fewest reads there.

namespace blocksieve::rocksdb_plugin {

/// Planned share of a ceiling. The rest is for what is not planned: whole lines and segments of
/// filters, footers, levels that grow.
inline constexpr double kPlannedShare = 0.98;

/// Counted for the reader of each file that has a filter or a block index: more than either takes.
inline constexpr uint64_t kReaderBytes = 64;

/// The ceiling that the options of a column family give it.
struct FilterCeiling {
  uint64_t max_bytes = 0;             ///< 0: none.
  std::string name = {};              ///< Shared by those of this name; empty: by none.
  RateGoal goal = {};                 ///< Kinds and sections; without a number.
  bool level0_is_short_lived = true;  ///< As in SetKinds.
};
using FindCeiling = std::function<FilterCeiling(const std::string& family)>;

/// What a column family has of a ceiling.
struct FilterShare {
  std::string family;
  std::string budget;        ///< Empty if no other family shares the ceiling.
  uint64_t max_bytes = 0;    ///< The ceiling of all that share it.
  uint64_t num_bytes = 0;    ///< Taken by this family, with files that are being written.
  uint64_t share_bytes = 0;  ///< Planned for it.
  uint64_t free_bytes = 0;   ///< Of the ceiling, taken by none that share it.
  double wasted_reads = 0;   ///< Of a lookup of an absent key, once all files are as planned.
};

/// The account of an SST that a thread of an open database writes. Copies count as one.
/// Thread-safe, also after the database was closed: then nothing is left.
class SstAccount {
 public:
  /// Joins the SST's column family to the ceiling. Nothing if the SST that this thread writes is
  /// not of this family, or of an uncertain database.
  static std::optional<SstAccount> Open(const std::string& family, int level,
                                        const FilterCeiling& ceiling);

  /// That of the SST that this thread writes, if its family has a ceiling. For builders of indexes,
  /// which learn nothing of their file.
  static std::optional<SstAccount> OpenCurrent();

  /// That of an SST of an uncertain database, of which `left` is left for all.
  explicit SstAccount(std::shared_ptr<std::atomic<uint64_t>> left) : left_(std::move(left)) {}

  /// The rates of the SST's filters by the plan for its column family. Errors: as AllocateForFile.
  const Result<FilterRates>& rates() const { return rates_; }

  /// Keys that the whole job may write; 0 if they are unknown.
  uint64_t job_keys() const { return job_keys_; }

  /// Takes as much of `bytes` as there is room for, but nothing less than `least`. Returns it.
  uint64_t Reserve(uint64_t bytes, uint64_t least) const;

  /// Whether there is room for so many bytes; takes nothing.
  bool HasRoom(uint64_t bytes) const;

  /// Takes as much of `bytes` as there is room for, for all files of the SST's job, once. Returns
  /// it.
  uint64_t ReserveForJob(uint64_t bytes) const;

  /// Says once per opening of the family, in the info log, that some files find no room. HasRoom,
  /// Reserve and ReserveForJob do if there is none.
  void ReportNoRoom() const;

  /// Takes what must be written, also if there is no room.
  void Take(uint64_t bytes) const { Change(static_cast<int64_t>(bytes)); }

  /// Gives back a part of what was taken.
  void Return(uint64_t bytes) const { Change(-static_cast<int64_t>(bytes)); }

 private:
  void Change(int64_t bytes) const;
  SstAccount(const WrittenSst& sst, int level);

  std::shared_ptr<std::atomic<uint64_t>> left_;  // null: of a known database
  std::string session_;
  std::string family_;
  uint64_t number_ = 0;
  int job_ = 0;
  int level_ = 0;
  Result<FilterRates> rates_ = FilterRates{0.01, 0.011};  // until there is a plan
  uint64_t job_keys_ = 0;
  uint64_t planned_above_ = 0;  // bytes still to come on levels but the largest of its family
  bool is_largest_ = false;     // whether the file is on that level, and leaves these bytes
};

/// Makes listeners keep accounts from now on. Called when a policy with a ceiling is opened; other
/// processes spare themselves the properties of files.
void KeepAccounts();
bool KeepsAccounts();

/// Divides the ceilings anew. `column_families`: as GetAllColumnFamilyMetaData has read them after
/// the moment `since`; `levels`: with the shares of lookups; `lookups`: sampled since the last
/// call. Reads the properties of files of unknown size. Nothing before KeepAccounts.
void UpdateAccounts(rocksdb::DB* db, const OpenDatabase& database,
                    const std::vector<rocksdb::ColumnFamilyMetaData>& column_families,
                    uint64_t since, const std::map<std::string, std::vector<TreeLevel>>& levels,
                    const std::map<std::string, double>& lookups);

/// Joins the column families that were not there at the last call to their ceilings. Builders of a
/// database wait for the first call after UpdateAccounts, lest one takes the room of files that
/// nobody has counted.
void JoinCeilings(const OpenDatabase& database, const FindCeiling& find);

/// @{
/// As RocksDB reports them. Nothing before KeepAccounts.
void BeginJob(const OpenDatabase& database, const SstJob& job);
void EndJob(const OpenDatabase& database, const std::string& family, int id, bool is_ok,
            const std::set<uint64_t>& outputs);
/// @}

/// @{
/// The end of an SST, and of an SST that is not live any more.
void EndSst(const WrittenSst& sst, const rocksdb::TableFileCreationInfo& info);
void DropSst(const std::string& session, const std::string& path);
/// @}

/// The number in a file name such as /db/000012.sst; 0 if there is none.
uint64_t SstNumber(const std::string& path);

/// By column family with a ceiling of an open database, which nobody may have flushed or compacted:
/// then there is none.
std::vector<FilterShare> ReadFilterShares(const OpenDatabase& database);

/// Where a block index notes its size, as no property of RocksDB has it.
inline constexpr char kBlockIndexBytesProperty[] = "blocksieve.block_index.bytes";

}  // namespace blocksieve::rocksdb_plugin
