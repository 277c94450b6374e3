#include <rocksdb/table.h>

#include <string_view>

#include "integration/cli/rocksdb/rocksdb_engine.h"
#include "integration/cli/rocksdb/stored_database.h"
#include "integration/rocksdb/policy/policy.h"

namespace blocksieve::cli {
namespace {

using rocksdb_plugin::Policy;

// Null if the column family has another policy, or none.
const Policy* PolicyOf(const rocksdb::ColumnFamilyOptions& family) {
  const auto* const table = family.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (table == nullptr || table->filter_policy == nullptr) return nullptr;
  return std::string_view(table->filter_policy->Name()) == Policy::kName
             ? static_cast<const Policy*>(table->filter_policy.get())
             : nullptr;
}

}  // namespace

AskedRatesByFamily RatesAskedOfRocksDb(const std::string& path) {
  AskedRatesByFamily rates;
  for (const auto& family : ReadStoredOptions(path, /*strict=*/false).families) {
    const Policy* const policy = PolicyOf(family.options);
    if (policy == nullptr) continue;
    rates[family.name] = {.wasted_reads = policy->options().wasted_reads,
                          .bits_per_key = policy->options().bits_per_key,
                          .kind_is_auto = policy->options().kind == PolicyKind::kAuto};
  }
  return rates;
}

}  // namespace blocksieve::cli
