#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "blocksieve/rocksdb.h"
#include "integration/rocksdb/compat/user_index.h"
#include "tests/support/test_db.h"

namespace blocksieve::testing {

/// Whether RocksDB has block indexes; if not, tests of them are left out.
inline constexpr bool kHasBlockIndexes = BLOCKSIEVE_HAS_USER_INDEX;

/// Gives new files a block index. `is_primary`: all files must have it, and all reads use it.
template <class Table = rocksdb::BlockBasedTableOptions>
void UseBlockIndex(EnableOptions features, bool is_primary, DbConfig* config) {
  rocksdb::ColumnFamilyOptions family(config->ToOptions());
  features.carrier = Carrier::kBlockIndex;
  MustBeOk(Enable(&family, features));
  Table table = *family.table_factory->GetOptions<Table>();
  if constexpr (requires { table.use_udi_as_primary_index; }) {
    table.use_udi_as_primary_index = is_primary;
  }
  table.filter_policy = config->table.filter_policy;
  config->table = table;
  config->options.table_properties_collector_factories =
      family.table_properties_collector_factories;
}

}  // namespace blocksieve::testing
