// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/compat/column_families.h"

#include <algorithm>
#include <set>
#include <string>

namespace blocksieve::rocksdb_plugin {

rocksdb::Status ResolveFamilies(rocksdb::DB* db,
                                std::vector<rocksdb::ColumnFamilyHandle*>* families) {
  rocksdb::ColumnFamilyHandle* const none = nullptr;
  std::ranges::replace(*families, none, db->DefaultColumnFamily());
  // The default one has two handles, and metrics of one family twice are refused.
  std::set<uint32_t> ids;
  std::erase_if(*families, [&](auto* family) { return !ids.insert(family->GetID()).second; });
  if (!families->empty()) return rocksdb::Status::OK();
  std::vector<rocksdb::ColumnFamilyMetaData> known;
  db->GetRootDB()->GetAllColumnFamilyMetaData(&known);  // a StackableDB passes no call on
  std::string missing;
  for (const rocksdb::ColumnFamilyMetaData& family : known) {
    if (family.name == rocksdb::kDefaultColumnFamilyName) continue;
    missing += (missing.empty() ? "" : ", ") + family.name;
  }
  if (missing.empty()) {
    families->push_back(db->DefaultColumnFamily());
    return rocksdb::Status::OK();
  }
  return rocksdb::Status::InvalidArgument(
      "blocksieve: column_families is empty; allowed: the handles that DB::Open returned, as the "
      "database also has these column families: " +
      missing);
}

}  // namespace blocksieve::rocksdb_plugin
