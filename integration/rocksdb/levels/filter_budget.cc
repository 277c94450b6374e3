// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/levels/filter_budget.h"

#include <rocksdb/db.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <set>
#include <utility>

#include "blocksieve/filter.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/levels/column_family_levels.h"
#include "integration/rocksdb/levels/fullest_levels.h"
#include "lib/base/altered_answers.h"

namespace blocksieve::rocksdb_plugin {
namespace {

using rocksdb::ColumnFamilyMetaData;

uint64_t Subtract(uint64_t from, uint64_t bytes) { return from - std::min(from, bytes); }

struct Family {
  FamilyAccount account;
  FilterCeiling ceiling = {};
  bool is_joined = false;             // to that of its options
  std::vector<double> lookup_shares;  // by level
  FullestLevels fullest;
  double lookups = 0;      // recent samples
  double share_bytes = 0;  // planned
  bool has_reported_no_room = false;
  bool exceeds = false;  // and the log has it

  // The levels to come, with the kinds of their filters; with `keys_to_come`, as full as they
  // become before the largest is compacted again.
  std::vector<TreeLevel> Levels(bool keys_to_come = false) const {
    std::vector<TreeLevel> levels = account.LevelsToCome();
    ExpectFewKeysOnLevel0(&levels);
    if (keys_to_come) fullest.Expect(&levels);
    for (size_t i = 0; i < std::min(levels.size(), lookup_shares.size()); ++i)
      levels[i].lookup_share = lookup_shares[i];
    SetKinds(ceiling.goal, ceiling.level0_is_short_lived, &levels);
    return levels;
  }
};

struct Account {
  std::map<std::string, Family> families;
  // What it has of the files from before, and then the ceilings of all families.
  enum class State { kNothing, kReadingFiles, kFiles, kAll } state = State::kNothing;
};

struct AccountRegistry {
  std::mutex mutex;
  std::condition_variable has_read;
  OpenDatabases<Account> databases;
};

AccountRegistry& Accounts() {
  // Never destroyed: databases may be closed while static destructors run.
  static auto& registry = *new AccountRegistry;
  return registry;
}

std::atomic<bool> keeps_accounts = false;

// What follows needs the lock.

Family* FindFamily(const std::string& session, const std::string& name,
                   std::shared_ptr<rocksdb::Logger>* info_log = nullptr) {
  for (auto& [database, account] : Accounts().databases) {
    if (database.session != session || database.is_closed()) continue;
    if (info_log != nullptr) *info_log = database.info_log.lock();
    const auto found = account.families.find(name);
    return found == account.families.end() ? nullptr : &found->second;
  }
  return nullptr;
}

// Whether the account of the database has the files from before. Waits if another thread is reading
// them. Nobody has if nothing was flushed or compacted since the opening but by CompactFiles.
bool WaitUntilRead(const std::string& session, std::unique_lock<std::mutex>* lock) {
  constexpr std::chrono::seconds kLongest{10};  // if it failed
  const auto state = [&] {
    for (const auto& [database, account] : Accounts().databases) {
      if (database.session == session) return account.state;
    }
    return Account::State::kNothing;
  };
  Accounts().has_read.wait_for(*lock, kLongest, [&] {
    return state() == Account::State::kNothing || state() == Account::State::kAll;
  });
  return state() == Account::State::kAll;
}

// All families that share a ceiling, this one included.
std::vector<Family*> Sharing(Family* family) {
  const std::string& name = family->ceiling.name;
  if (name.empty()) return {family};
  std::vector<Family*> sharing;
  for (auto& [database, account] : Accounts().databases) {
    if (database.is_closed()) continue;
    for (auto& [_, other] : account.families) {
      if (other.ceiling.name == name) sharing.push_back(&other);
    }
  }
  return sharing;
}

struct CeilingUse {
  uint64_t max_bytes = UINT64_MAX;
  uint64_t num_bytes = 0;  // of live files and those to come, whichever order jobs end in
};

CeilingUse Sum(const std::vector<Family*>& sharing) {
  CeilingUse use;
  for (const Family* family : sharing) {
    use.max_bytes = std::min(use.max_bytes, family->ceiling.max_bytes);
    use.num_bytes += family->account.num_bytes();
  }
  return use;
}

// The goal of a family with its share.
RateGoal GoalOf(const Family& family) {
  RateGoal goal = family.ceiling.goal;
  goal.filter_bytes = family.share_bytes;
  return goal;
}

// What the plan gives to levels other than the largest, and no file there has taken; `is_largest`:
// whether `written` is that.
uint64_t PlannedAbove(const Family& family, int written, bool keys_to_come, bool* is_largest) {
  const std::vector<TreeLevel> levels = family.Levels(keys_to_come);
  const auto largest = static_cast<int>(LargestLevel(levels));
  *is_largest = written == largest;
  if (!*is_largest && !keys_to_come) return 0;
  const Result<RatePlan> plan = AllocateByLevel(levels, GoalOf(family));
  if (!plan.ok()) return 0;
  uint64_t missing = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    const int level = static_cast<int>(i);
    if (level == largest) continue;
    const auto [fpr, range_fpr] = plan->levels[i];
    const Result<Layout> layout = ChooseLayout(levels[i].kind, std::min(fpr, kMaxTargetFpr));
    if (!layout.ok()) continue;
    const double bits = std::min(ShareOfFpr(fpr), 1.0) * layout->bits_per_key +
                        (range_fpr < 1 ? RangeBitsPerKey(range_fpr) : 0);
    missing += Subtract(static_cast<uint64_t>(levels[i].num_keys() * bits / 8),
                        family.account.BytesOnLevel(level));
  }
  return missing;
}

// What an SST may take besides what it has. The largest level leaves what others are planned to
// take, `ahead`. What its inputs hold it may have in any case, so that files above a lowered
// ceiling get the filters of the plan, and not none until all of them are below it.
uint64_t Available(Family* family, int job, int level, uint64_t ahead) {
  const std::vector<Family*> sharing = Sharing(family);
  const CeilingUse use = Sum(sharing);
  for (const Family* other : sharing) {
    if (other != family && level > 0)
      ahead += Subtract(static_cast<uint64_t>(other->share_bytes), other->account.num_bytes());
  }
  const uint64_t credit = family->account.CreditOf(job);
  return std::max(credit, Subtract(use.max_bytes + credit, use.num_bytes + ahead));
}

FileSizes SizesOf(const rocksdb::TableProperties& properties) {
  FileSizes sizes{.num_keys = properties.num_entries};
  uint64_t filters = properties.filter_size;
  if (filters <= kZeroTailBytes + 1) filters = 0;  // "always may match"
  const auto& user = properties.user_collected_properties;
  const auto noted = user.find(kBlockIndexBytesProperty);
  if (noted != user.end() && !FromText(noted->second, &sizes.index_bytes)) sizes.index_bytes = 0;
  sizes.bytes = filters + sizes.index_bytes;
  if (sizes.bytes != 0) sizes.bytes += kReaderBytes;
  return sizes;
}

FileSizes ReadSizes(rocksdb::DB* db, const std::string& path) {
  rocksdb::Options options;
  options.env = db->GetEnv();
  rocksdb::BlockBasedTableOptions table;
  table.cache_index_and_filter_blocks = true;  // neither is read
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::SstFileReader reader(options);
  if (!reader.Open(path).ok()) return {};
  const auto properties = reader.GetTableProperties();
  return properties == nullptr ? FileSizes() : SizesOf(*properties);
}

// Enough samples, as for the shares of levels.
constexpr double kMinLookups = 256;
constexpr double kMaxLookups = 16 * kMinLookups;

// Divides the planned part of a ceiling among families that share it.
void Divide(const std::vector<Family*>& sharing) {
  auto max_bytes = kPlannedShare * static_cast<double>(Sum(sharing).max_bytes);
  double lookups = 0;
  for (const Family* family : sharing) {
    max_bytes -= static_cast<double>(family->account.index_bytes());
    lookups += family->lookups;
  }
  std::vector<std::vector<TreeLevel>> trees;
  std::vector<double> weights;
  for (Family* family : sharing) {
    trees.push_back(family->Levels());
    weights.push_back(lookups >= kMinLookups ? family->lookups : NumKeys(trees.back()));
    if (lookups > kMaxLookups) family->lookups /= 2;
  }
  const std::vector<double> shares = DivideBytes(trees, weights, std::max(max_bytes, 0.0));
  for (size_t i = 0; i < sharing.size(); ++i) {
    constexpr double kWeight = 1.0 / 8;  // as SmoothShares has it
    double& share = sharing[i]->share_bytes;
    share = share == 0 ? shares[i] : kWeight * shares[i] + (1 - kWeight) * share;
  }
}

// Gives a family the ceiling of its options, which SetOptions may have changed.
void Join(const std::string& name, const FilterCeiling& ceiling, rocksdb::Logger* info_log,
          Family* family) {
  const bool is_new = !std::exchange(family->is_joined, true) ||
                      family->ceiling.max_bytes != ceiling.max_bytes ||
                      family->ceiling.name != ceiling.name;
  family->ceiling = ceiling;
  if (!is_new || ceiling.max_bytes == 0) return;
  const std::vector<Family*> sharing = Sharing(family);
  Divide(sharing);
  for (const Family* other : sharing) {
    if (other->ceiling.max_bytes == ceiling.max_bytes) continue;
    LogQuietly(info_log,
               "budget " + ceiling.name + " has filter_memory=" + ToText(ceiling.max_bytes) +
                   " and " + ToText(other->ceiling.max_bytes) + "; the smaller holds",
               {}, name);
  }
}

void LogExcess(rocksdb::Logger* info_log, const std::string& name, Family* family) {
  const CeilingUse use = Sum(Sharing(family));
  const bool exceeds = family->ceiling.max_bytes != 0 && use.num_bytes > use.max_bytes;
  if (exceeds && !family->exceeds) {
    LogQuietly(
        info_log,
        "filters and block indexes take " + ToText(use.num_bytes) +
            " bytes, more than filter_memory=" + ToText(use.max_bytes) +
            ": files came from outside or from recoveries, or the ceiling was higher before; "
            "new files have none until compactions or RewriteFilters make room",
        {}, name, rocksdb::InfoLogLevel::WARN_LEVEL);
  }
  family->exceeds = exceeds;
}

}  // namespace

uint64_t SstNumber(const std::string& path) {
  return std::strtoull(path.c_str() + path.find_last_of('/') + 1, nullptr, 10);
}

SstAccount::SstAccount(const WrittenSst& sst, int level)
    : session_(sst.session),
      family_(sst.family),
      number_(SstNumber(sst.path)),
      job_(sst.job_id),
      level_(std::max(level, 0)) {}

std::optional<SstAccount> SstAccount::Open(const std::string& family, int level,
                                           const FilterCeiling& ceiling) {
  const std::vector<WrittenSst>& ssts = WrittenSsts();
  if (ssts.empty() || ssts.back().session.empty() || ssts.back().family != family) return {};
  SstAccount account(ssts.back(), level);
  std::unique_lock lock(Accounts().mutex);
  if (!WaitUntilRead(account.session_, &lock)) return {};
  Family* const found = FindFamily(account.session_, family);
  if (found == nullptr) return {};
  Join(family, ceiling, ssts.back().info_log.lock().get(), found);
  // A compaction that a program asked for leaves a tree that is used as it is.
  const bool keys_to_come = !found->account.IsManual(account.job_);
  std::vector<TreeLevel> levels = found->Levels(keys_to_come);
  const auto written = static_cast<size_t>(account.level_);
  if (written >= levels.size())
    levels.resize(written + 1, {.num_runs = 0, .kind = ChooseKind(ceiling.goal.kind, false)});
  account.rates_ = AllocateForFile(std::move(levels), account.level_, GoalOf(*found));
  account.job_keys_ = found->account.KeysOf(account.job_);
  account.planned_above_ = PlannedAbove(*found, account.level_, keys_to_come, &account.is_largest_);
  found->account.SetOutput(account.job_, account.number_, account.level_, {});
  return account;
}

std::optional<SstAccount> SstAccount::OpenCurrent() {
  const std::vector<WrittenSst>& ssts = WrittenSsts();
  if (ssts.empty() || ssts.back().session.empty()) return {};
  const std::lock_guard lock(Accounts().mutex);
  Family* const family = FindFamily(ssts.back().session, ssts.back().family);
  if (family == nullptr || family->ceiling.max_bytes == 0) return {};
  SstAccount account(ssts.back(), family->account.LevelOf(SstNumber(ssts.back().path)));
  account.planned_above_ = PlannedAbove(
      *family, account.level_, !family->account.IsManual(account.job_), &account.is_largest_);
  return account;
}

uint64_t SstAccount::Reserve(uint64_t bytes, uint64_t least) const {
  if (internal::FailsAt("reserve"))
    return internal::AlteredAnswers() == internal::Answers::kGranted ? bytes : 0;
  if (left_ != nullptr) {
    uint64_t left = *left_;
    uint64_t granted = 0;
    do {
      granted = std::min(bytes, left);
      if (granted < least) return 0;
    } while (!left_->compare_exchange_weak(left, left - granted));
    return granted;
  }
  std::unique_lock lock(Accounts().mutex);
  Family* const family = FindFamily(session_, family_);
  if (family == nullptr) return 0;
  const uint64_t available = Available(family, job_, level_, is_largest_ ? planned_above_ : 0);
  uint64_t granted = std::min(bytes, available);
  if (!is_largest_) {
    // Files of these levels share what is short, but for what their inputs leave, or the last of
    // them would find nothing.
    const double share = std::min(1.0, Ratio(available, std::max(planned_above_, bytes)));
    granted =
        std::min(granted, std::max(family->account.CreditOf(job_),
                                   static_cast<uint64_t>(share * static_cast<double>(bytes))));
  }
  if (granted < least) {
    lock.unlock();
    ReportNoRoom();
    return 0;
  }
  const uint64_t taken = family->account.BytesOf(number_);
  family->account.SetOutput(job_, number_, level_, {.bytes = taken + granted});
  return granted;
}

bool SstAccount::HasRoom(uint64_t bytes) const {
  if (left_ != nullptr) return *left_ >= bytes;
  std::unique_lock lock(Accounts().mutex);
  Family* const family = FindFamily(session_, family_);
  if (family == nullptr) return false;
  if (Available(family, job_, level_, is_largest_ ? planned_above_ : 0) >= bytes) return true;
  lock.unlock();
  ReportNoRoom();
  return false;
}

uint64_t SstAccount::ReserveForJob(uint64_t bytes) const {
  if (internal::FailsAt("reserve")) return 0;
  if (left_ != nullptr) return 0;  // how many keys come is unknown
  std::unique_lock lock(Accounts().mutex);
  Family* const family = FindFamily(session_, family_);
  if (family == nullptr) return 0;
  const uint64_t granted = family->account.ReserveForJob(
      job_, bytes, Available(family, job_, level_, is_largest_ ? planned_above_ : 0));
  lock.unlock();
  if (granted < bytes) ReportNoRoom();
  return granted;
}

void SstAccount::ReportNoRoom() const {
  std::shared_ptr<rocksdb::Logger> info_log;
  {
    const std::lock_guard lock(Accounts().mutex);
    Family* const family = FindFamily(session_, family_, &info_log);
    if (family == nullptr || std::exchange(family->has_reported_no_room, true)) return;
  }
  LogQuietly(
      info_log.get(),
      "filter_memory leaves no room for filters or block indexes of some files, whose blocks "
      "are read; raise it, or let RewriteFilters make older filters smaller",
      {}, family_, rocksdb::InfoLogLevel::WARN_LEVEL);
}

void SstAccount::Change(int64_t bytes) const {
  if (left_ != nullptr) {
    if (bytes < 0) *left_ += static_cast<uint64_t>(-bytes);
    return;
  }
  const std::lock_guard lock(Accounts().mutex);
  Family* const family = FindFamily(session_, family_);
  if (family == nullptr) return;
  const auto taken = static_cast<int64_t>(family->account.BytesOf(number_)) + bytes;
  family->account.SetOutput(job_, number_, level_,
                            {.bytes = static_cast<uint64_t>(std::max<int64_t>(taken, 0))});
}

void KeepAccounts() { keeps_accounts = true; }
bool KeepsAccounts() { return keeps_accounts; }

void UpdateAccounts(rocksdb::DB* db, const OpenDatabase& database,
                    const std::vector<ColumnFamilyMetaData>& column_families, uint64_t since,
                    const std::map<std::string, std::vector<TreeLevel>>& levels,
                    const std::map<std::string, double>& lookups) {
  if (!keeps_accounts) return;
  struct Unknown {
    std::string family;
    uint64_t number;
    int level;
    std::string path;
    FileSizes sizes = {};
  };
  std::vector<Unknown> unknown;
  {
    const std::lock_guard lock(Accounts().mutex);
    Account& account = Accounts().databases[database];
    if (account.state == Account::State::kNothing) account.state = Account::State::kReadingFiles;
    for (const ColumnFamilyMetaData& column_family : column_families) {
      const FamilyAccount& known = account.families[column_family.name].account;
      for (const auto& level : column_family.levels) {
        for (const auto& file : level.files) {
          if (known.Has(file.file_number)) continue;
          unknown.push_back(
              {column_family.name, file.file_number, level.level, file.db_path + file.name});
        }
      }
    }
  }
  for (Unknown& file : unknown) file.sizes = ReadSizes(db, file.path);
  const std::lock_guard lock(Accounts().mutex);
  Account& account = Accounts().databases[database];
  for (const Unknown& file : unknown) {
    FamilyAccount& family = account.families[file.family].account;
    if (!family.Has(file.number)) family.SetFile(file.number, file.level, file.sizes);
  }
  std::erase_if(account.families, [&](const auto& entry) { return !levels.contains(entry.first); });
  for (const ColumnFamilyMetaData& column_family : column_families) {
    Family& family = account.families[column_family.name];
    std::map<uint64_t, int> live;
    for (const auto& level : column_family.levels) {
      for (const auto& file : level.files) live[file.file_number] = level.level;
    }
    family.account.SetVersion(live, since);
    family.fullest.Remember(family.account.LevelsToCome());
    family.lookup_shares.clear();
    for (const TreeLevel& level : levels.at(column_family.name))
      family.lookup_shares.push_back(level.lookup_share);
    family.lookups += lookups.at(column_family.name);
  }
  if (account.state == Account::State::kReadingFiles) account.state = Account::State::kFiles;
  for (auto& [name, family] : account.families) {
    if (family.ceiling.max_bytes == 0) continue;
    Divide(Sharing(&family));
    LogExcess(database.info_log.lock().get(), name, &family);
  }
}

void JoinCeilings(const OpenDatabase& database, const FindCeiling& find) {
  if (!keeps_accounts) return;
  std::vector<std::string> names;
  {
    const std::lock_guard lock(Accounts().mutex);
    const Account& account = Accounts().databases[database];
    // Another thread is reading the families, or about to.
    if (account.state < Account::State::kFiles) return;
    for (const auto& [name, family] : account.families) {
      if (!family.is_joined) names.push_back(name);
    }
  }
  std::map<std::string, FilterCeiling> ceilings;
  for (const std::string& name : names) ceilings[name] = find(name);
  const std::lock_guard lock(Accounts().mutex);
  Account& account = Accounts().databases[database];
  const auto info_log = database.info_log.lock();
  for (const auto& [name, ceiling] : ceilings)
    Join(name, ceiling, info_log.get(), &account.families[name]);
  for (const auto& [name, _] : ceilings) LogExcess(info_log.get(), name, &account.families[name]);
  account.state = Account::State::kAll;
  Accounts().has_read.notify_all();
}

void BeginJob(const OpenDatabase& database, const SstJob& job) {
  if (!keeps_accounts) return;
  const std::lock_guard lock(Accounts().mutex);
  Accounts().databases[database].families[job.family].account.BeginJob(job);
}

void EndJob(const OpenDatabase& database, const std::string& family_name, int id, bool is_ok,
            const std::set<uint64_t>& outputs) {
  if (!keeps_accounts) return;
  const std::lock_guard lock(Accounts().mutex);
  Family* const family = FindFamily(database.session, family_name);
  if (family != nullptr) family->account.EndJob(id, is_ok, outputs);
}

void EndSst(const WrittenSst& sst, const rocksdb::TableFileCreationInfo& info) {
  if (!keeps_accounts || sst.session.empty()) return;
  const std::lock_guard lock(Accounts().mutex);
  Family* const family = FindFamily(sst.session, sst.family);
  if (family == nullptr) return;
  const uint64_t number = SstNumber(sst.path);
  const rocksdb::TableProperties& properties = info.table_properties;
  if (info.status.ok() && properties.num_entries + properties.num_range_deletions != 0) {
    family->account.SetOutput(sst.job_id, number, family->account.LevelOf(number),
                              SizesOf(properties));
    return;
  }
  family->account.Erase(number);
  // RocksDB does not report the end of a flush that failed.
  if (info.reason == rocksdb::TableFileCreationReason::kFlush)
    family->account.EndJob(sst.job_id, false, {});
}

void DropSst(const std::string& session, const std::string& path) {
  if (!keeps_accounts || session.empty()) return;
  const std::lock_guard lock(Accounts().mutex);
  for (auto& [database, account] : Accounts().databases) {
    if (database.session != session) continue;
    for (auto& [_, family] : account.families) family.account.Erase(SstNumber(path));
  }
}

std::vector<FilterShare> ReadFilterShares(const OpenDatabase& open) {
  const std::lock_guard lock(Accounts().mutex);
  std::vector<FilterShare> shares;
  for (auto& [database, account] : Accounts().databases) {
    if (database.session != open.session) continue;
    for (auto& [name, family] : account.families) {
      if (family.ceiling.max_bytes == 0) continue;
      const Result<RatePlan> plan = AllocateByLevel(family.Levels(), GoalOf(family));
      const CeilingUse use = Sum(Sharing(&family));
      shares.push_back({name, family.ceiling.name, use.max_bytes, family.account.num_bytes(),
                        static_cast<uint64_t>(family.share_bytes),
                        Subtract(use.max_bytes, use.num_bytes),
                        plan.ok() ? plan->wasted_reads : 1});
    }
  }
  return shares;
}

}  // namespace blocksieve::rocksdb_plugin
