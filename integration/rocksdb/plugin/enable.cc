// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/table.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "blocksieve/rocksdb.h"
#include "integration/rocksdb/block_index/factory.h"
#include "integration/rocksdb/compat/option_type.h"
#include "integration/rocksdb/compat/version_differences.h"
#include "integration/rocksdb/index/skip_index_collector.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "integration/rocksdb/listener/listener.h"
#include "integration/rocksdb/plugin/registry.h"
#include "integration/rocksdb/policy/policy.h"
#include "integration/rocksdb/ranges/range_extractor.h"
#include "lib/base/errors.h"

// Each call changes copies of the options and moves them in last, so an error changes nothing.

namespace blocksieve {
namespace {

using namespace rocksdb_plugin;  // NOLINT: the same component

// Errors: InvalidArgument if tables are not block-based. REQUIRES: there is a column family.
rocksdb::Status CheckTables(const OptionsToSet& options) {
  const auto& factory = options.column_family()->table_factory;
  if (factory != nullptr && factory->GetOptions<rocksdb::BlockBasedTableOptions>() != nullptr) {
    return rocksdb::Status::OK();
  }
  return OptionOutOfRange("table_factory", factory == nullptr ? "null" : factory->Name(),
                          "BlockBasedTable (NewBlockBasedTableFactory)");
}

// Copies the listeners and adds blocksieve's, which option `name` needs. Errors: InvalidArgument
// without DBOptions, where only `allowed` is possible.
rocksdb::Status AddListener(const OptionsToSet& options, const std::string& name,
                            const std::string& value, const std::string& allowed,
                            std::vector<std::shared_ptr<rocksdb::EventListener>>* listeners) {
  if (options.db() == nullptr) {
    return OptionOutOfRange(name, value,
                            allowed +
                                " without DBOptions, which hold its listener; pass "
                                "{&db_options, &column_family_options}");
  }
  *listeners = options.db()->listeners;
  if (!rocksdb_plugin::HasListener(*options.db())) listeners->push_back(NewListener());
  return {};
}

// Errors: InvalidArgument if the block index would store in each file what filters or a collector
// of skip indexes store there, too.
rocksdb::Status CheckStoredOnce(const std::optional<BlockIndexOptions>& index,
                                const FilterPolicyOptions& filter, bool has_collector) {
  if (!index) return rocksdb::Status::OK();
  if (index->ranges && filter.ranges) {
    return OptionOutOfRange("ranges", "true, also of the block index", "true in one of them");
  }
  if (!index->prefixes.empty() && !filter.prefixes.empty()) {
    return OptionOutOfRange("prefixes", filter.prefixes + ", also of the block index",
                            "none in one of them");
  }
  if (index->columns.empty() || !has_collector) return rocksdb::Status::OK();
  return OptionOutOfRange("columns", "set in the skip index and in the block index",
                          "none in one of them");
}

bool IsCollector(const std::shared_ptr<rocksdb::TablePropertiesCollectorFactory>& collector) {
  return collector != nullptr &&
         std::string_view(collector->Name()) == SkipIndexCollectorFactory::kName;
}

rocksdb::Status Enable(const OptionsToSet& options, const FilterPolicyOptions& filter,
                       bool replaces_extractor) {
  return PublicCall({{"options", options.column_family()}}, [&]() -> rocksdb::Status {
    BLOCKSIEVE_RETURN_IF_ERROR(CheckTables(options));
    BLOCKSIEVE_RETURN_IF_ERROR(ValidatePolicyOptions(filter));
    BLOCKSIEVE_RETURN_IF_ERROR(CheckRocksDb(filter));
    RegisterUnlessRegistered();
    rocksdb::ColumnFamilyOptions& family = *options.column_family();
    BLOCKSIEVE_RETURN_IF_ERROR(CheckStoredOnce(FindBlockIndexOptions(family), filter, false));
    auto listeners =
        options.db() == nullptr ? rocksdb::DBOptions().listeners : options.db()->listeners;
    if (ToGoal(filter).differs_by_run()) {
      const char* const goal = filter.wasted_reads ? "wasted_reads" : "bits_per_key";
      const double value = filter.wasted_reads ? *filter.wasted_reads : *filter.bits_per_key;
      BLOCKSIEVE_RETURN_IF_ERROR(AddListener(options, goal, ToText(value), "none", &listeners));
    }
    auto extractor = family.prefix_extractor;
    BLOCKSIEVE_RETURN_IF_ERROR(CheckRangeOptions(filter, family, /*check_extractor=*/false));
    if (rocksdb_plugin::NeedsExtractor(filter)) {
      if (extractor != nullptr && !replaces_extractor && !IsRangeExtractor(extractor.get())) {
        return OptionOutOfRange("prefix_extractor", extractor->Name(),
                                std::string("none or ") + RangeExtractor::kName +
                                    ForRanges(filter) +
                                    "; set replace_prefix_extractor if no seek relies on the "
                                    "present one");
      }
      extractor = RangeExtractor::Get();
    } else if (IsRangeExtractor(extractor.get())) {
      extractor = nullptr;  // set by an earlier call
    }
    auto table = *family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
    table.filter_policy = MakePolicy(filter);
    family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    family.prefix_extractor = std::move(extractor);
    if (options.db() != nullptr) options.db()->listeners = std::move(listeners);
    return rocksdb::Status::OK();
  });
}

}  // namespace

rocksdb::Status EnableFilter(OptionsToSet options, const FilterPolicyOptions& filter) {
  return Enable(options, filter, /*replaces_extractor=*/false);
}

rocksdb::Status EnableRangeFilter(OptionsToSet options, const RangeFilterOptions& filter) {
  return PublicCall({}, [&]() -> rocksdb::Status {
    FilterPolicyOptions policy = filter.policy;
    policy.ranges = policy.ranges || policy.prefixes.empty();
    return Enable(options, policy, filter.replace_prefix_extractor);
  });
}

rocksdb::Status EnableSkipIndex(OptionsToSet options, const SkipIndexOptions& index,
                                const SkipIndexStorage& storage) {
  return PublicCall({{"options", options.column_family()}}, [&]() -> rocksdb::Status {
    BLOCKSIEVE_RETURN_IF_ERROR(CheckTables(options));
    BLOCKSIEVE_RETURN_IF_ERROR(ToRocksStatus(SkipIndexBuilder::Create(index).status()));
    BLOCKSIEVE_RETURN_IF_ERROR(
        CheckStoredOnce(FindBlockIndexOptions(*options.column_family()), {}, true));
    RegisterUnlessRegistered();
    rocksdb::ColumnFamilyOptions& family = *options.column_family();
    std::vector<std::shared_ptr<rocksdb::EventListener>> listeners;
    const bool has_sidecars = storage.max_property_bytes != std::numeric_limits<uint64_t>::max();
    if (has_sidecars || options.db() != nullptr) {
      BLOCKSIEVE_RETURN_IF_ERROR(
          AddListener(options, "max_property_bytes", ToText(storage.max_property_bytes),
                      ToText(std::numeric_limits<uint64_t>::max()), &listeners));
    }
    auto collectors = family.table_properties_collector_factories;
    std::erase_if(collectors, IsCollector);
    collectors.push_back(
        std::make_shared<SkipIndexCollectorFactory>(SkipIndexSettings{index, storage}));
    family.table_properties_collector_factories = std::move(collectors);
    if (options.db() != nullptr) options.db()->listeners = std::move(listeners);
    return rocksdb::Status::OK();
  });
}

rocksdb::Status EnableIndex(rocksdb::ColumnFamilyOptions* options, const BlockIndexOptions& index) {
  return PublicCall({{"options", options}}, [&]() -> rocksdb::Status {
    BLOCKSIEVE_RETURN_IF_ERROR(CheckTables(options));
    if (!index.ranges && index.prefixes.empty() && index.columns.empty()) {
      return OptionOutOfRange("ranges", "false",
                              "true, or prefixes or columns, for an index of use");
    }
    const Policy* const policy = FindPolicy(*options);
    const FilterPolicyOptions filter =
        policy == nullptr ? FilterPolicyOptions() : policy->options();
    const bool has_collector =
        std::ranges::any_of(options->table_properties_collector_factories, IsCollector);
    BLOCKSIEVE_RETURN_IF_ERROR(CheckStoredOnce(index, filter, has_collector));
    RegisterUnlessRegistered();
    return SetBlockIndex(index, options);
  });
}

}  // namespace blocksieve
