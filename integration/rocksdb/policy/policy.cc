// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/policy/policy.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <new>

#include "blocksieve/filter.h"
#include "blocksieve/sizing.h"
#include "integration/rocksdb/compat/building_context.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"
#include "integration/rocksdb/compat/log.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/policy/filter_bits.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/base/kernels.h"

namespace blocksieve {
namespace rocksdb_plugin {

const char Policy::kName[] = "blocksieve";

Policy::Policy(const EnableOptions& options, std::string abi_problem, bool is_compiled_for)
    : options_(options),
      abi_problem_(std::move(abi_problem)),
      is_compiled_for_(is_compiled_for),
      memory_fit_(std::make_shared<MemoryFit>()) {
  RegisterOptions("BlocksieveFilterPolicyOptions", &options_, &PolicyOptionTable().types());
  SetGoal();
}

rocksdb::Status Policy::ValidateOptions(const rocksdb::DBOptions& db,
                                        const rocksdb::ColumnFamilyOptions& column_family) const {
  // A file that failed after its filter has left a mark. DB::Open writes OPTIONS after this call.
  MarkNextFile(false);
  level_rates_.Learn(column_family);
  {
    const std::lock_guard lock(families_mutex_);
    families_.clear();
    uncertain_bytes_ = nullptr;
  }
  rocksdb::Status status = CheckRangeOptions(options_, column_family, /*check_extractor=*/true);
  if (options_.filter_memory) {
    KeepAccounts();
    const bool has_listener = std::ranges::any_of(db.listeners, [](const auto& listener) {
      return listener != nullptr && std::string_view(listener->Name()) == kName;  // the same
    });
    if (!has_listener) {
      status = OptionOutOfRange(
          "filter_memory", ToText(*options_.filter_memory),
          "none, unless the listener blocksieve is there, which Enable adds; option "
          "strings name it by listeners={blocksieve}");
    }
  }
  if (!status.ok()) {
    LogLoudly(nullptr, ToMessage(status));
    return status;
  }
  if (AnswersRanges(options_) && abi_problem_.empty()) TestRangesOnce();
  return FilterPolicy::ValidateOptions(db, column_family);
}

void Policy::SetGoal() {
  goal_ = ToGoal(options_);
  if (!abi_problem_.empty() && is_compiled_for_) goal_.kind = FilterKind::kStock;
}

std::string Policy::FallbackText() const {
  if (abi_problem_.empty() || options_.kind == FilterKind::kStock) return "";
  const std::string built = is_compiled_for_
                                ? "RocksDB's own filters of the same goal are built (kind=stock)"
                                : "stock Bloom filters of the same FPR are built";
  return built + "; reason: " + abi_problem_;
}

FilterCeiling Policy::Ceiling() const {
  FilterCeiling ceiling{options_.filter_memory.value_or(0), options_.budget, goal_};
  ceiling.goal.filter_bytes = std::nullopt;
  return ceiling;
}

std::optional<SstAccount> Policy::OpenAccount(const rocksdb::FilterBuildingContext& context) const {
  if (context.level_at_creation < 0) return {};  // of an SstFileWriter
  FilterCeiling ceiling = Ceiling();
  ceiling.level0_is_short_lived = context.compaction_style != rocksdb::kCompactionStyleFIFO;
  auto account = SstAccount::Open(context.column_family_name, context.level_at_creation, ceiling);
  if (account) return account;
  const std::lock_guard lock(families_mutex_);
  if (uncertain_bytes_ == nullptr)
    uncertain_bytes_ = std::make_shared<std::atomic<uint64_t>>(*options_.filter_memory / 64);
  return SstAccount(uncertain_bytes_);
}

Result<FilterRates> Policy::ChooseRates(const rocksdb::FilterBuildingContext& context,
                                        const SstAccount* account) const {
  if (account != nullptr) return account->rates();
  if (goal_.filter_bytes) return FilterRates{0.01, 0.011};
  if (goal_.differs_by_run()) return level_rates_.ChooseRates(goal_, context);
  return FilterRates{*goal_.target_fpr, options_.range_fpr.value_or(FilterOptions().range_fpr)};
}

void Policy::LogOptions(rocksdb::Logger* info_log, const std::string& family) const noexcept try {
  std::string options = GetPrintableOptions();
  for (size_t at; (at = options.find("\n    ")) != std::string::npos;) options.replace(at, 5, ", ");
  const std::string kernel(KernelName(ActiveKernel()));
  LogQuietly(info_log, "version " BLOCKSIEVE_VERSION ", kernel " + kernel + ", options in effect: ",
             std::string_view(options).substr(4, options.size() - 5), family);
  const std::string fallback = FallbackText();
  if (!fallback.empty()) LogLoudly(info_log, fallback, "", family);
} catch (const std::bad_alloc&) {
  // A filter without a line in the log is better than no filter.
}

Layout Policy::ChooseStockLayout(const rocksdb::FilterBuildingContext& context,
                                 double target_fpr) const {
  FilterKind kind = FilterKind::kStockBloom;
  // Below format_version 5, RocksDB builds Ribbon filters as always, but legacy Bloom filters, for
  // which the rates do not hold.
  if (goal_.kind == FilterKind::kStock) {
    const bool knows_table_options = abi_problem_.empty() || is_compiled_for_;
    kind = ChooseKind(goal_.kind, knows_table_options && IsShortLived(context) &&
                                      context.table_options.format_version >= 5);
  }
  return *ChooseLayout(kind, target_fpr);
}

// Takes the room for a job's filters of this layout, or for the best one that there is room for.
static bool ReserveStock(const SstAccount& account, Layout* layout) {
  const uint64_t wanted = PayloadBytes(*layout, account.job_keys());
  const uint64_t granted = account.ReserveForJob(wanted);
  if (granted >= wanted || wanted == 0) return wanted != 0;
  const Result<Layout> smaller = LayoutForBitsPerKey(
      layout->kind, 8 * static_cast<double>(granted) / static_cast<double>(account.job_keys()));
  if (!smaller.ok() || smaller->predicted_fpr > kMaxTargetFpr) return false;
  *layout = *smaller;
  return true;
}

rocksdb::FilterBitsBuilder* Policy::GetBuilderWithContext(
    const rocksdb::FilterBuildingContext& context) const try {
  const std::string& family = context.column_family_name;
  std::shared_ptr<Family> known;
  {
    const std::lock_guard lock(families_mutex_);
    std::shared_ptr<Family>& entry = families_[ToKey(context)];
    if (entry == nullptr) {
      entry = std::make_shared<Family>();
      if (context.info_log != nullptr) LogOptions(context.info_log, family);
    }
    known = entry;
  }
  std::optional<SstAccount> account;
  // No account has what a recovery adds: with filters, each would exceed the ceiling further.
  if (options_.filter_memory && IsOfRecovery(context)) return nullptr;
  if (options_.filter_memory) account = OpenAccount(context);
  const Result<FilterRates> rates = ChooseRates(context, account ? &*account : nullptr);
  if (!rates.ok()) {
    LogNoFilter(context.info_log, rates.status().message(), family);
    return nullptr;
  }
  auto [target_fpr, range_fpr] = *rates;
  // Where the plan has no memory for all files of a level, some get the smallest filter.
  target_fpr = account ? std::min(target_fpr, kMaxTargetFpr) : known->shares.ChooseFpr(target_fpr);
  if (target_fpr > kMaxTargetFpr) {
    if (!options_.prefixes.empty() && !known->reported_bits.exchange(true)) {
      LogQuietly(context.info_log, kNoBitsForPrefixes, "", family, kWarning);
    }
    return nullptr;
  }
  if (goal_.kind == FilterKind::kStock || !abi_problem_.empty()) {
    Layout layout = ChooseStockLayout(context, target_fpr);
    // RocksDB's builders do not ask when they finish.
    if (account && !ReserveStock(*account, &layout)) return nullptr;
    const rocksdb::FilterPolicy* const stock = stock_policies_.ForLayout(layout);
    if (stock != nullptr) return stock->GetBuilderWithContext(context);
    LogNoFilter(context.info_log, "this RocksDB has no policy bloomfilter or ribbonfilter", family);
    return nullptr;
  }
  std::unique_ptr<CacheCharge> charge = ChargeOfFilterBuilding(context.table_options);
  FilterOptions core = FilterOptionsFor(options_, {target_fpr, range_fpr}, IsShortLived(context));
  // A goal in bytes may leave no memory for ranges.
  if (rates->range_fpr >= 1) core.ranges = false;
  core.is_partition = context.table_options.partition_filters;
  core.keep_hashes = context.table_options.detect_filter_construct_corruption;
  core.charge = charge.get();
  Result<FilterBuilder> builder = FilterBuilder::Create(core);
  if (!builder.ok()) {
    LogNoFilter(context.info_log, builder.status().message(), family);
    return nullptr;
  }
  BitsBuilderOptions bits{.info_log = context.info_log,
                          .column_family = family,
                          .memory_fit = nullptr,
                          .charge = std::move(charge),
                          .account = std::move(account)};
  if (context.table_options.optimize_filters_for_memory) bits.memory_fit = memory_fit_;
  if (AnswersRanges(options_)) {
    bits.has_sections = true;
    if (core.ranges) bits.range_bits_per_key = RangeBitsPerKey(range_fpr);
    bits.mark_files = options_.plain_range_reads;
    if (options_.bits_per_key) bits.reported_bits = {known, &known->reported_bits};
  }
  return NewBitsBuilder(*std::move(builder), std::move(bits));
} catch (const std::bad_alloc&) {  // RocksDB is not exception-safe
  LogNoFilter(context.info_log, "out of memory", context.column_family_name);
  return nullptr;
}

rocksdb::FilterBitsReader* Policy::GetFilterBitsReader(const rocksdb::Slice& contents) const {
  return NewBitsReader(contents, /*only_stock=*/!abi_problem_.empty());
}

rocksdb::Status Policy::ConfigureOptions(
    const rocksdb::ConfigOptions& config_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    std::unordered_map<std::string, std::string>* unused) {
  // Under ignore_unknown_options, RocksDB reports neither unknown options nor values that it cannot
  // parse.
  for (const auto& [name, value] : opts_map) {
    EnableOptions ignored;
    const rocksdb::Status known = PolicyOptionTable().Parse(name, value, &ignored);
    if (!known.ok()) LogLoudly(nullptr, ToMessage(known));
  }
  const EnableOptions before = options_;
  rocksdb::Status status = FilterPolicy::ConfigureOptions(config_options, opts_map, unused);
  SetGoal();
  if (status.ok()) {
    status = ValidatePolicyOptions(options_);
    if (!status.ok()) LogLoudly(nullptr, ToMessage(status));
  }
  if (!status.ok()) {
    options_ = before;
    SetGoal();
    LogLoudly(nullptr,
              "the filter policy options are not applied; if RocksDB continues, it uses\n" +
                  GetPrintableOptions());
  }
  return status;
}

std::unique_ptr<Policy> MakePolicy(const EnableOptions& options) {
  assert(!ValidatePolicyOptions(options).IsInvalidArgument());  // but memory may be short
  // Opening a database makes several policies, but a problem of the process is reported once.
  static const bool reported = [] {
    const std::string fallback = Policy({}, LoadedAbiProblem(), LoadedIsCompiled()).FallbackText();
    if (!fallback.empty()) LogLoudly(nullptr, fallback);
    if (!KernelOverrideProblem().empty()) {
      LogLoudly(nullptr, "BLOCKSIEVE_KERNEL=" + std::string(KernelOverrideProblem()) + "; " +
                             std::string(KernelName(ActiveKernel())) + " is used");
    }
    return true;
  }();
  static_cast<void>(reported);
  // As read from an OPTIONS file, which RocksDB compares with these options when it writes it.
  EnableOptions as_read = options;
  PolicyOptionTable().Copy(&options, &as_read).PermitUncheckedError();
  return std::make_unique<Policy>(as_read, LoadedAbiProblem(), LoadedIsCompiled());
}

rocksdb::Status CheckRocksDb(const EnableOptions& filter) {
  if (const std::string& problem = LoadedAbiProblem(); !problem.empty()) {
    if (LoadedIsCompiled() && !AnswersRanges(filter)) return {};
    return rocksdb::Status::NotSupported(
        "blocksieve: " + problem + "; load that version, or build blocksieve for the loaded one");
  }
  if (!AnswersRanges(filter)) return rocksdb::Status::OK();
  const std::string& problem = TestRangesOnce();
  if (problem.empty()) return rocksdb::Status::OK();
  return rocksdb::Status::NotSupported("blocksieve: range filters do not work with RocksDB " +
                                       rocksdb::GetRocksVersionAsString() + ": " + problem +
                                       "; set ranges=false");
}

const Policy* FindPolicy(const rocksdb::ColumnFamilyOptions& column_family) {
  if (column_family.table_factory == nullptr) return nullptr;
  const auto* const table =
      column_family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  return table == nullptr ? nullptr : As<Policy>(table->filter_policy.get());
}

FilterOptions FilterOptionsFor(const EnableOptions& options, const FilterRates& rates,
                               bool is_short_lived) {
  FilterOptions core;
  core.kind = ChooseKind(options.kind.value_or(FilterKind::kAuto), is_short_lived);
  core.target_fpr = rates.target_fpr;
  core.max_build_bytes = options.max_build_bytes;
  core.ranges = options.ranges;
  // Ranges below absent prefixes never reach the range filter. It gives up 0.08 bits per key, so
  // that few prefixes and ranges together take no more than ranges alone.
  const double share = options.prefixes.empty() ? 1 : 1.06;
  core.range_fpr = std::min(share * rates.range_fpr, kMaxRangeFpr);
  // An estimate near a coarse range_fpr is expected, and no sign of keys that are too much alike.
  core.max_estimated_range_fpr =
      std::max(core.max_estimated_range_fpr, std::min(1.0, 1.5 * rates.range_fpr));
  core.prefixes = options.prefixes;
  if (options.prefix_fpr) core.prefix_fpr = *options.prefix_fpr;
  // A range filter checks what prefixes let through.
  if (options.prefix_fpr || options.ranges) core.few_prefixes_fpr = core.prefix_fpr;
  // The files of flushes are many, and small.
  if (is_short_lived) core.max_few_prefixes *= 3;
  core.prefixes_share_bits = options.bits_per_key || options.filter_memory;
  return core;
}

}  // namespace rocksdb_plugin

rocksdb::Status NewFilterPolicy(const EnableOptions& options,
                                std::shared_ptr<const rocksdb::FilterPolicy>* policy) try {
  rocksdb::Status valid = rocksdb_plugin::ValidatePolicyOptions(options);
  if (valid.ok()) *policy = rocksdb_plugin::MakePolicy(options);
  return valid;
} catch (const std::bad_alloc&) {
  return rocksdb::Status::MemoryLimit();
}

}  // namespace blocksieve
