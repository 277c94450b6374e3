#include "integration/rocksdb/levels/known_levels.h"

namespace blocksieve::rocksdb_plugin {

KnownLevels& KnownLevels::Instance() {
  // Never destroyed: databases may be closed after static destructors began.
  static auto& instance = *new KnownLevels;
  return instance;
}

void KnownLevels::Set(const std::shared_ptr<const rocksdb::Logger>& database,
                      ByColumnFamily levels) {
  const std::lock_guard lock(mutex_);
  std::erase_if(databases_, [](const auto& entry) { return entry.second.log.expired(); });
  databases_[database.get()] = {database, std::move(levels)};
}

std::optional<lsm::Levels> KnownLevels::Get(const ColumnFamilyKey& column_family) const {
  const std::lock_guard lock(mutex_);
  const auto database = databases_.find(column_family.first);
  if (database == databases_.end() || database->second.log.expired()) return std::nullopt;
  const auto found = database->second.levels.find(column_family.second);
  if (found == database->second.levels.end()) return std::nullopt;
  return found->second;
}

}  // namespace blocksieve::rocksdb_plugin
