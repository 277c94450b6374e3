#include "integration/rocksdb/policy.h"

#include <rocksdb/table.h>

#include "blocksieve/filter_builder.h"
#include "blocksieve/kernels.h"
#include "integration/rocksdb/abi_guard.h"
#include "integration/rocksdb/filter_bits.h"
#include "integration/rocksdb/loud_log.h"
#include "integration/rocksdb/memory_fit.h"
#include "integration/rocksdb/policy_options.h"
#include "integration/rocksdb/stock_filters.h"

namespace blocksieve {
namespace rocksdb_plugin {
namespace {

// Filters of flushes live until the next compaction, while every lookup asks them: the fastest
// kind. What compactions and bulk loads write stays: the smallest kind. Measured with a million
// keys (bench/run filters): ribbon takes a third less space, but 2.6 times as long to build and 1.8
// times as long to probe.
FilterKind KindFor(PolicyKind kind, const rocksdb::FilterBuildingContext& context) {
  switch (kind) {
    case PolicyKind::kBloom:
      return FilterKind::kBlockedBloom;
    case PolicyKind::kRibbon:
      return FilterKind::kRibbon;
    case PolicyKind::kAuto:
      break;
  }
  const bool is_flush = context.reason == rocksdb::TableFileCreationReason::kFlush ||
                        context.reason == rocksdb::TableFileCreationReason::kRecovery;
  // Under FIFO nothing is ever compacted.
  const bool is_short_lived = is_flush && context.compaction_style != rocksdb::kCompactionStyleFIFO;
  return is_short_lived ? FilterKind::kBlockedBloom : FilterKind::kRibbon;
}

FilterOptions CoreOptions(const FilterPolicyOptions& options,
                          const rocksdb::FilterBuildingContext& context) {
  FilterOptions core;
  core.kind = KindFor(options.kind, context);
  core.target_fpr = options.target_fpr;
  core.max_build_bytes = options.max_build_bytes;
  core.keep_hashes = context.table_options.detect_filter_construct_corruption;
  return core;
}

}  // namespace

Policy::Policy(const FilterPolicyOptions& options, std::string abi_problem)
    : options_(options),
      abi_problem_(std::move(abi_problem)),
      memory_fit_(std::make_shared<MemoryFit>()) {
  RegisterOptions("BlocksieveFilterPolicyOptions", &options_, &PolicyOptionTypes());
}

rocksdb::FilterBitsBuilder* Policy::GetBuilderWithContext(
    const rocksdb::FilterBuildingContext& context) const {
  if (!abi_problem_.empty()) {
    // The bits of a stock filter may be asked for by the name that every generation knows.
    const auto stock = NewStockBloom(StockBloomBitsPerKey(options_.target_fpr));
    return stock == nullptr ? nullptr : stock->GetBuilderWithContext(context);
  }
  Result<FilterBuilder> builder = FilterBuilder::Create(CoreOptions(options_, context));
  if (!builder.ok()) {
    LogLoudly(context.info_log, "no filter written: " + builder.status().message());
    return nullptr;
  }
  return NewBitsBuilder(*std::move(builder), context.info_log,
                        context.table_options.optimize_filters_for_memory ? memory_fit_ : nullptr);
}

rocksdb::FilterBitsReader* Policy::GetFilterBitsReader(const rocksdb::Slice& contents) const {
  if (!abi_problem_.empty()) return StockReader().GetFilterBitsReader(contents);
  return NewBitsReader(contents);
}

rocksdb::Status Policy::ConfigureOptions(
    const rocksdb::ConfigOptions& config_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    std::unordered_map<std::string, std::string>* unused) {
  // Looked for here, because under ignore_unknown_options RocksDB reports neither what it does not
  // know nor what it cannot parse.
  for (const auto& [name, value] : opts_map) {
    const std::string problem = PolicyOptionProblem(config_options, name, value);
    if (!problem.empty()) LogLoudly(nullptr, problem);
  }
  rocksdb::Status status = FilterPolicy::ConfigureOptions(config_options, opts_map, unused);
  if (!status.ok()) {
    LogLoudly(nullptr, "filter policy options not applied; if RocksDB goes on, in effect are\n" +
                           DescribePolicyOptions(options_));
  }
  return status;
}

std::unique_ptr<const rocksdb::FilterPolicy> MakePolicy(const FilterPolicyOptions& options) {
  // Policies are made several times per open; what is wrong with the process is said once.
  static const bool said = [] {
    if (!LoadedAbiProblem().empty()) {
      LogLoudly(nullptr, LoadedAbiProblem() + "; stock Bloom filters of the same FPR are built");
    }
    if (!KernelOverrideProblem().empty()) {
      LogLoudly(nullptr, "BLOCKSIEVE_KERNEL=" + std::string(KernelOverrideProblem()) + "; " +
                             std::string(KernelName(ActiveKernel())) + " is used");
    }
    return true;
  }();
  static_cast<void>(said);
  return std::make_unique<Policy>(options, LoadedAbiProblem());
}

std::string Policy::GetPrintableOptions() const { return DescribePolicyOptions(options_); }

}  // namespace rocksdb_plugin

std::shared_ptr<const rocksdb::FilterPolicy> NewFilterPolicy(const FilterPolicyOptions& options,
                                                             rocksdb::Status* status) {
  const rocksdb::Status valid = rocksdb_plugin::ValidatePolicyOptions(options);
  if (status != nullptr) *status = valid;
  if (!valid.ok()) {
    if (status == nullptr) rocksdb_plugin::LogLoudly(nullptr, valid.ToString());
    return nullptr;
  }
  return rocksdb_plugin::MakePolicy(options);
}

}  // namespace blocksieve
