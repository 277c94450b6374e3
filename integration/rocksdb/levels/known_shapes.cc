#include "integration/rocksdb/levels/known_shapes.h"

#include <algorithm>

namespace blocksieve::rocksdb_plugin {

bool ColumnFamilyShape::IsEmpty() const {
  return level0_runs * keys_per_level0_run == 0 &&
         std::all_of(level_keys.begin(), level_keys.end(), [](double keys) { return keys == 0; });
}

KnownShapes& KnownShapes::Instance() {
  // Never destroyed: databases may be closed after static destructors began.
  static auto& instance = *new KnownShapes;
  return instance;
}

void KnownShapes::Set(const std::shared_ptr<const rocksdb::Logger>& database,
                      ByColumnFamily shapes) {
  const std::lock_guard lock(mutex_);
  std::erase_if(databases_, [](const auto& entry) { return entry.second.log.expired(); });
  databases_[database.get()] = {database, std::move(shapes)};
}

std::optional<ColumnFamilyShape> KnownShapes::Get(const ColumnFamilyKey& column_family) const {
  const std::lock_guard lock(mutex_);
  const auto database = databases_.find(column_family.first);
  if (database == databases_.end() || database->second.log.expired()) return std::nullopt;
  const auto found = database->second.shapes.find(column_family.second);
  if (found == database->second.shapes.end()) return std::nullopt;
  return found->second;
}

}  // namespace blocksieve::rocksdb_plugin
