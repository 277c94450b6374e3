#include "integration/rocksdb/tree_shape.h"

#include <algorithm>

namespace blocksieve::rocksdb_plugin {

bool TreeShape::IsEmpty() const {
  return level0_runs * keys_per_level0_run == 0 &&
         std::all_of(level_keys.begin(), level_keys.end(), [](double keys) { return keys == 0; });
}

KnownShapes& KnownShapes::Instance() {
  // Never destroyed: databases may be closed after static destructors began.
  static auto& instance = *new KnownShapes;
  return instance;
}

void KnownShapes::Set(const ColumnFamilyKey& column_family, TreeShape shape) {
  const std::lock_guard lock(mutex_);
  shapes_[column_family] = std::move(shape);
}

std::optional<TreeShape> KnownShapes::Get(const ColumnFamilyKey& column_family) const {
  const std::lock_guard lock(mutex_);
  const auto found = shapes_.find(column_family);
  if (found == shapes_.end()) return std::nullopt;
  return found->second;
}

void KnownShapes::ForgetDatabase(const rocksdb::Logger* database) {
  const std::lock_guard lock(mutex_);
  std::erase_if(shapes_, [&](const auto& entry) { return entry.first.first == database; });
}

}  // namespace blocksieve::rocksdb_plugin
