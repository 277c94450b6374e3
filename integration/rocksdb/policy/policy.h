#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <rocksdb/convenience.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/status.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "blocksieve/filter.h"
#include "blocksieve/rocksdb/enable.h"
#include "blocksieve/tree.h"
#include "integration/rocksdb/compat/stock_filters.h"
#include "integration/rocksdb/levels/filter_budget.h"
#include "integration/rocksdb/levels/level_rates.h"
#include "integration/rocksdb/policy/enable_options.h"

// The filter policy, and its options as text for RocksDB's option strings and OPTIONS files. A
// number is read back as it was written, in any locale.

namespace blocksieve::rocksdb_plugin {

class MemoryFit;

/// The policy that RocksDB calls. The constructor or RocksDB's option machinery sets its options;
/// they do not change once it is used.
class Policy final : public rocksdb::FilterPolicy {
 public:
  static const char kName[];
  static constexpr const char* kStockName = "rocksdb.BuiltinBloomFilter";

  /// `abi_problem`: why RocksDB's filter interface must not be used; empty if it may be.
  /// `is_compiled_for`: whether what public headers declare may be used in any case.
  Policy(const EnableOptions& options, std::string abi_problem, bool is_compiled_for = false);

  const char* Name() const override { return kName; }

  // RocksDB finds filter blocks by this name of the built-in filters. So stock RocksDB finds
  // blocksieve's, which "may match", and blocksieve finds RocksDB's.
  const char* CompatibilityName() const override { return kStockName; }

  /// Passes the column family's options to LevelRates, and checks them and RocksDB for ranges.
  rocksdb::Status ValidateOptions(const rocksdb::DBOptions& db,
                                  const rocksdb::ColumnFamilyOptions& column_family) const override;

  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override;
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override;

  /// Logs the options that RocksDB would silently drop from an OPTIONS file.
  rocksdb::Status ConfigureOptions(const rocksdb::ConfigOptions& config_options,
                                   const std::unordered_map<std::string, std::string>& opts_map,
                                   std::unordered_map<std::string, std::string>* unused) override;

  /// The options in effect, one per line, as RocksDB's info log prints those of a table.
  std::string GetPrintableOptions() const override;

  const EnableOptions& options() const { return options_; }

  /// What is built instead of the filters that the options ask for, and why; empty if nothing is.
  std::string FallbackText() const;

  /// Logs version, kernel and options in effect, and the filters built instead. The policy calls it
  /// once per opening of a column family, for its first file.
  void LogOptions(rocksdb::Logger* info_log, const std::string& column_family) const noexcept;

  /// Of column families with this policy, whose options say the rest.
  FilterCeiling Ceiling() const;

 private:
  void SetGoal();
  /// `account`: of the SST with filter_memory, else null.
  Result<FilterRates> ChooseRates(const rocksdb::FilterBuildingContext& context,
                                  const SstAccount* account) const;
  std::optional<SstAccount> OpenAccount(const rocksdb::FilterBuildingContext& context) const;
  /// Of RocksDB's own filters, where they are built.
  Layout ChooseStockLayout(const rocksdb::FilterBuildingContext& context, double target_fpr) const;

  EnableOptions options_;
  RateGoal goal_;  // of the options, but for RocksDB's own filters where ours must not be built
  const std::string abi_problem_;
  const bool is_compiled_for_;
  const std::shared_ptr<MemoryFit> memory_fit_;
  mutable LevelRates level_rates_;
  mutable StockPolicies stock_policies_;
  // What the policy has of a family whose options it logged.
  struct Family {
    std::atomic<bool> reported_bits = false;  // that bits_per_key was not kept
    FileShares shares;
  };
  mutable std::mutex families_mutex_;
  mutable std::map<ColumnFamilyKey, std::shared_ptr<Family>> families_;  // since ValidateOptions
  // Since then, with filter_memory: what may be built while the database is uncertain.
  mutable std::shared_ptr<std::atomic<uint64_t>> uncertain_bytes_;
};

/// A policy with these options. If the loaded RocksDB's filter interface differs from the headers',
/// it builds stock filters, and stderr says so once per process. REQUIRES: `options` are valid.
std::unique_ptr<Policy> MakePolicy(const EnableOptions& options);

/// Errors: NotSupported if the loaded RocksDB would not build or not use these filters, nor its own
/// for the same goal.
rocksdb::Status CheckRocksDb(const EnableOptions& filter);

/// The policy of a column family, if this version of blocksieve made it; null otherwise.
const Policy* FindPolicy(const rocksdb::ColumnFamilyOptions& column_family);

/// Checks what DB::Open refuses: filters that answer for ranges do not work with all options.
/// `check_extractor`: the prefix extractor must be RangeExtractor. Errors: InvalidArgument, naming
/// the option, its value, allowed values, and the option of the policy that needs them.
rocksdb::Status CheckRangeOptions(const EnableOptions& filter,
                                  const rocksdb::ColumnFamilyOptions& column_family,
                                  bool check_extractor);

/// What the core builds at these rates: one translation for the policy and for estimates.
FilterOptions FilterOptionsFor(const EnableOptions& options, const FilterRates& rates,
                               bool is_short_lived);

/// Errors: InvalidArgument for an option without the one that it needs, whatever the carrier.
rocksdb::Status CheckDependentOptions(const EnableOptions& options);

/// Errors: InvalidArgument, naming the option, its value and the allowed range, or the options that
/// exclude each other, or are not of filters.
rocksdb::Status ValidatePolicyOptions(EnableOptions options);

/// The filter goal of the options; target_fpr=0.01 if they set none.
RateGoal ToGoal(const EnableOptions& options);

}  // namespace blocksieve::rocksdb_plugin
