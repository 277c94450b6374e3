#include "integration/cli/maintenance/stock_outcome.h"

#include <rocksdb/convenience.h>

#include <algorithm>

#include "integration/cli/database/filter_options.h"
#include "integration/cli/database/open_database.h"
#include "integration/cli/database/table/file_report.h"
#include "integration/cli/term/text.h"
#include "integration/rocksdb/compat/filter_bits_abi.h"

namespace blocksieve::cli {
namespace {

// Larger filters have the same rate and proportional size.
constexpr uint64_t kMaxKeys = 1 << 17;

}  // namespace

bool IsKnownPolicy(const std::string& policy) {
  return rocksdb_plugin::LoadedAbiProblem().empty() && StrictStatus("filter_policy", policy).ok();
}

StockOutcome::StockOutcome(const std::string& database, const std::string& family,
                           const std::string& policy) {
  for (const auto& stored : ReadStoredOptions(database, /*strict=*/false).families) {
    if (stored.name != family || stored.options.table_factory == nullptr) continue;
    const auto* const table =
        stored.options.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    if (table != nullptr) table_ = *table;
  }
  is_known_ =
      IsKnownPolicy(policy) && rocksdb::FilterPolicy::CreateFromString({}, policy, &policy_).ok();
}

std::optional<StockOutcome::Filter> StockOutcome::Of(const FileReport& file) {
  if (!is_known_) return std::nullopt;
  const uint64_t keys = FilterKeys(file);
  if (policy_ == nullptr || keys == 0) return Filter();
  const uint64_t num_filters = std::clamp<uint64_t>(file.filter.num_filters, 1, keys);
  const uint64_t keys_each = keys / num_filters;
  const uint64_t built_keys = std::min(keys_each, kMaxKeys);
  const auto [built, is_new] = built_.try_emplace({file.place.level, built_keys});
  if (is_new) built->second = Build(file.place.level, built_keys);
  const double times = term::Ratio(keys, built_keys);
  return Filter{built->second.fpr,
                static_cast<uint64_t>(times * static_cast<double>(built->second.num_bytes))};
}

StockOutcome::Filter StockOutcome::Build(int level, uint64_t num_keys) const {
  rocksdb::FilterBuildingContext context(table_);
  context.level_at_creation = level;
  context.reason = rocksdb::TableFileCreationReason::kCompaction;
  const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
      policy_->GetBuilderWithContext(context));
  if (builder == nullptr) return {};
  for (uint64_t key = 0; key < num_keys; ++key) builder->AddKey(std::to_string(key));
  std::unique_ptr<const char[]> memory;
  const std::string contents = builder->Finish(&memory).ToString();
  FilterReport report;
  DescribeFilters({contents}, num_keys, &report);
  return {report.predicted_fpr, report.num_bytes};
}

}  // namespace blocksieve::cli
