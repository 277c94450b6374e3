#pragma once

#include <rocksdb/filter_policy.h>

#include <memory>
#include <string>
#include <unordered_map>

#include "blocksieve/rocksdb/filter_policy.h"
#include "integration/rocksdb/levels/level_rates.h"

namespace blocksieve::rocksdb_plugin {

class MemoryFit;

/// The policy that RocksDB sees. Options are set before it is used, through the constructor or
/// RocksDB's option machinery, and not changed afterwards.
class Policy final : public rocksdb::FilterPolicy {
 public:
  static constexpr const char* kName = "blocksieve";

  /// `abi_problem`: why RocksDB's filter interface must not be used; empty if it may.
  Policy(const FilterPolicyOptions& options, std::string abi_problem);

  const char* Name() const override { return kName; }

  // The family of the built-in filters: RocksDB looks filters up by this name, so ours are found by
  // stock RocksDB (and "may match"), and its own by us.
  const char* CompatibilityName() const override { return "rocksdb.BuiltinBloomFilter"; }

  /// Learns what kind of tree filters are for.
  rocksdb::Status ValidateOptions(const rocksdb::DBOptions& db,
                                  const rocksdb::ColumnFamilyOptions& column_family) const override;

  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& context) const override;
  rocksdb::FilterBitsReader* GetFilterBitsReader(const rocksdb::Slice& contents) const override;

  /// Logs what RocksDB, reading an OPTIONS file, would drop without a word.
  rocksdb::Status ConfigureOptions(const rocksdb::ConfigOptions& config_options,
                                   const std::unordered_map<std::string, std::string>& opts_map,
                                   std::unordered_map<std::string, std::string>* unused) override;

  std::string GetPrintableOptions() const override;

  const FilterPolicyOptions& options() const { return options_; }

 private:
  double TargetFpr(const rocksdb::FilterBuildingContext& context) const;

  FilterPolicyOptions options_;
  const std::string abi_problem_;
  const std::shared_ptr<MemoryFit> memory_fit_;
  mutable LevelRates level_rates_;
};

/// The policy for options that are valid, checked against the library that is loaded: if that does
/// not fit, the policy builds stock filters, and stderr says so once per process.
std::unique_ptr<Policy> MakePolicy(const FilterPolicyOptions& options);

}  // namespace blocksieve::rocksdb_plugin
