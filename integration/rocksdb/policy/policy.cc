#include "integration/rocksdb/policy/policy.h"

#include <algorithm>
#include <cassert>
#include <new>

#include "blocksieve/filter.h"
#include "blocksieve/sizing.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/stock_filters.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "lib/base/kernels.h"

namespace blocksieve {
namespace rocksdb_plugin {
namespace {

FilterOptions CoreOptions(const FilterPolicyOptions& options, double target_fpr,
                          const rocksdb::FilterBuildingContext& context) {
  FilterOptions core;
  core.kind = FixedKind(options.kind).value_or(lsm::AutoKind(IsShortLived(context)));
  core.target_fpr = target_fpr;
  core.max_build_bytes = options.max_build_bytes;
  core.keep_hashes = context.table_options.detect_filter_construct_corruption;
  return core;
}

RangePartOptions CoreRangeOptions(const FilterPolicyOptions& options, double range_fpr,
                                  const rocksdb::FilterBuildingContext& context) {
  RangePartOptions core;
  core.range_fpr = range_fpr;
  // An estimate near a coarse range_fpr is expected, and no sign of keys that are too much alike.
  core.max_estimated_fpr = std::max(core.max_estimated_fpr, std::min(1.0, 1.5 * range_fpr));
  core.is_whole_file = !context.table_options.partition_filters;
  core.max_build_bytes = options.max_build_bytes;
  return core;
}

}  // namespace

const char Policy::kName[] = "blocksieve";

Policy::Policy(const FilterPolicyOptions& options, std::string abi_problem)
    : options_(options),
      abi_problem_(std::move(abi_problem)),
      memory_fit_(std::make_shared<MemoryFit>()) {
  RegisterOptions("BlocksieveFilterPolicyOptions", &options_, &PolicyOptionTypes());
}

rocksdb::Status Policy::ValidateOptions(const rocksdb::DBOptions& db,
                                        const rocksdb::ColumnFamilyOptions& column_family) const {
  level_rates_.Learn(column_family);
  if (options_.ranges) {
    const rocksdb::Status status = CheckRangeOptions(column_family, /*check_extractor=*/true);
    if (!status.ok()) {
      LogLoudly(nullptr, MessageOf(status));
      return status;
    }
    if (abi_problem_.empty()) TestRangesOnce();
  }
  return FilterPolicy::ValidateOptions(db, column_family);
}

Result<FilterRates> Policy::RatesOf(const rocksdb::FilterBuildingContext& context) const {
  const RateGoal goal = GoalOf(options_);
  if (goal.differs_by_run()) return level_rates_.RatesOf(goal, options_.kind, context);
  return FilterRates{*goal.target_fpr, options_.range_fpr.value_or(RangePartOptions().range_fpr)};
}

rocksdb::FilterBitsBuilder* Policy::GetBuilderWithContext(
    const rocksdb::FilterBuildingContext& context) const try {
  const std::string& family = context.column_family_name;
  const Result<FilterRates> rates = RatesOf(context);
  if (!rates.ok()) {
    LogNoFilter(context.info_log, rates.status().message(), family);
    return nullptr;
  }
  const auto [target_fpr, range_fpr] = *rates;
  if (target_fpr > kMaxTargetFpr) return nullptr;
  if (!abi_problem_.empty()) {
    // A stock policy can be made by name in every generation of the interface.
    const rocksdb::FilterPolicy* const stock = StockBloom(StockBloomBitsPerKey(target_fpr));
    if (stock != nullptr) return stock->GetBuilderWithContext(context);
    LogNoFilter(context.info_log, "this RocksDB has no policy bloomfilter", family);
    return nullptr;
  }
  Result<FilterBuilder> builder = FilterBuilder::Create(CoreOptions(options_, target_fpr, context));
  if (!builder.ok()) {
    LogNoFilter(context.info_log, builder.status().message(), family);
    return nullptr;
  }
  std::unique_ptr<rocksdb::FilterBitsBuilder> points(
      NewBitsBuilder(*std::move(builder), context.info_log,
                     context.table_options.optimize_filters_for_memory ? memory_fit_ : nullptr,
                     ChargeOfFilterBuilding(context.table_options), family));
  if (points == nullptr || !options_.ranges) return points.release();
  Result<RangeFilterBuilder> ranges =
      RangeFilterBuilder::Create(CoreRangeOptions(options_, range_fpr, context));
  if (!ranges.ok()) {
    LogNoRangeFilter(context.info_log, ranges.status().message(), family);
    return points.release();
  }
  return NewRangeBitsBuilder(std::move(points), *std::move(ranges), options_.plain_range_reads,
                             context.info_log, ChargeOfFilterBuilding(context.table_options),
                             family);
} catch (const std::bad_alloc&) {  // RocksDB is not exception-safe
  LogNoFilter(context.info_log, "out of memory", context.column_family_name);
  return nullptr;
}

rocksdb::FilterBitsReader* Policy::GetFilterBitsReader(const rocksdb::Slice& contents) const {
  if (!abi_problem_.empty()) return NewStockBitsReader(contents);
  return NewBitsReader(contents);
}

rocksdb::Status Policy::ConfigureOptions(
    const rocksdb::ConfigOptions& config_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    std::unordered_map<std::string, std::string>* unused) {
  // Under ignore_unknown_options, RocksDB reports neither unknown options nor values that it cannot
  // parse.
  for (const auto& [name, value] : opts_map) {
    const std::string problem = PolicyOptionProblem(config_options, name, value);
    if (!problem.empty()) LogLoudly(nullptr, problem);
  }
  const FilterPolicyOptions before = options_;
  rocksdb::Status status = FilterPolicy::ConfigureOptions(config_options, opts_map, unused);
  if (status.ok()) {
    status = ValidatePolicyOptions(options_);
    if (!status.ok()) LogLoudly(nullptr, MessageOf(status));
  }
  if (!status.ok()) {
    options_ = before;
    LogLoudly(nullptr,
              "the filter policy options are not applied; if RocksDB continues, it uses\n" +
                  DescribePolicyOptions(options_));
  }
  return status;
}

std::unique_ptr<Policy> MakePolicy(const FilterPolicyOptions& options) {
  assert(ValidatePolicyOptions(options).ok());
  // Opening a database makes several policies, but a problem of the process is reported once.
  static const bool reported = [] {
    if (!LoadedAbiProblem().empty()) {
      LogLoudly(nullptr,
                LoadedAbiProblem() + "; stock Bloom filters of the same FPR are built instead");
    }
    if (!KernelOverrideProblem().empty()) {
      LogLoudly(nullptr, "BLOCKSIEVE_KERNEL=" + std::string(KernelOverrideProblem()) + "; " +
                             std::string(KernelName(ActiveKernel())) + " is used");
    }
    return true;
  }();
  static_cast<void>(reported);
  return std::make_unique<Policy>(options, LoadedAbiProblem());
}

std::string Policy::GetPrintableOptions() const { return DescribePolicyOptions(options_); }

}  // namespace rocksdb_plugin

Result<std::shared_ptr<const rocksdb::FilterPolicy>> NewFilterPolicy(
    const FilterPolicyOptions& options) try {
  const rocksdb::Status valid = rocksdb_plugin::ValidatePolicyOptions(options);
  if (!valid.ok()) return Status::InvalidArgument(valid.getState());
  return std::shared_ptr<const rocksdb::FilterPolicy>(rocksdb_plugin::MakePolicy(options));
} catch (const std::bad_alloc&) {
  return Status::ResourceExhausted("out of memory");
}

}  // namespace blocksieve
