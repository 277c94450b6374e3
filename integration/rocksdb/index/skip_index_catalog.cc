#include "integration/rocksdb/index/skip_index_catalog.h"

#include <algorithm>

#include "blocksieve/rocksdb/skip_scan.h"
#include "integration/rocksdb/index/skip_index_properties.h"

namespace blocksieve::rocksdb_plugin {
namespace {

// Whether two files of one identity hold the same index: a guard against session ids that are made
// up or copied. Its ends hold header and checksums; comparing all would cost a scan too much.
bool SameIndex(const rocksdb::TableProperties& a, const rocksdb::TableProperties& b) {
  constexpr size_t kEndBytes = 256;
  if (&a == &b) return true;
  if (FindProperty(a.user_collected_properties, kSidecarProperty) !=
      FindProperty(b.user_collected_properties, kSidecarProperty)) {
    return false;
  }
  const std::string_view x = FindProperty(a.user_collected_properties, kIndexProperty);
  const std::string_view y = FindProperty(b.user_collected_properties, kIndexProperty);
  return x.size() == y.size() && a.num_entries == b.num_entries &&
         x.substr(0, kEndBytes) == y.substr(0, kEndBytes) &&
         x.substr(x.size() - std::min(x.size(), kEndBytes)) ==
             y.substr(y.size() - std::min(y.size(), kEndBytes));
}

}  // namespace

SkipIndexCatalog& SkipIndexCatalog::Default() {
  // Never destroyed: databases may be read after static destructors began.
  static auto& catalog = *new SkipIndexCatalog(SkipIndexCacheOptions().capacity_bytes);
  return catalog;
}

std::shared_ptr<const FileIndex> SkipIndexCatalog::Open(
    const std::shared_ptr<const rocksdb::TableProperties>& properties, const SstPlace& sst,
    std::span<const Column> columns) {
  const FileIdentity identity = IdentityOf(*properties);
  std::vector<Column> all(columns.begin(), columns.end());
  if (identity.is_known()) {
    const std::lock_guard lock(mutex_);
    const auto found = positions_.find(identity);
    if (found != positions_.end() && SameIndex(found->second->second->properties(), *properties)) {
      const FileIndex& known = *found->second->second;
      if (known.HasRead(columns)) {
        entries_.splice(entries_.begin(), entries_, found->second);
        return found->second->second;
      }
      all.insert(all.end(), known.columns()->begin(), known.columns()->end());
    }
  }
  auto index = std::make_shared<const FileIndex>(properties, sst, std::move(all));
  Insert(identity, index);
  return index;
}

void SkipIndexCatalog::Forget(const FileIdentity& identity) {
  const std::lock_guard lock(mutex_);
  if (const auto old = positions_.find(identity); old != positions_.end()) Erase(old);
  Shrink();
}

void SkipIndexCatalog::Erase(
    std::map<FileIdentity, std::list<Entry>::iterator>::iterator position) {
  used_bytes_ -= position->second->second->memory_bytes();
  entries_.erase(position->second);
  positions_.erase(position);
}

void SkipIndexCatalog::Insert(const FileIdentity& identity,
                              const std::shared_ptr<const FileIndex>& index) {
  const std::lock_guard lock(mutex_);
  ++num_opened_;
  // What is too large would drive all others out and go itself next.
  if (!identity.is_known() || !index->is_lasting() || index->memory_bytes() > capacity_bytes_ / 2) {
    return;
  }
  if (const auto old = positions_.find(identity); old != positions_.end()) Erase(old);
  // Whichever of the two finds no memory, nothing has changed.
  std::list<Entry> entry;
  entry.emplace_front(identity, index);
  positions_[identity] = entry.begin();
  entries_.splice(entries_.begin(), entry);
  used_bytes_ += index->memory_bytes();
  Shrink();
}

void SkipIndexCatalog::Configure(uint64_t capacity_bytes, std::shared_ptr<rocksdb::Cache> charged) {
  auto reservation = std::make_unique<CacheReservation>(std::move(charged));
  const std::lock_guard lock(mutex_);
  capacity_bytes_ = capacity_bytes;
  reservation_ = std::move(reservation);
  Shrink();
}

void SkipIndexCatalog::Shrink() {
  while (!entries_.empty() && (used_bytes_ > capacity_bytes_ || !reservation_->Set(used_bytes_))) {
    Erase(positions_.find(entries_.back().first));
  }
  reservation_->Set(used_bytes_);
}

uint64_t SkipIndexCatalog::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

uint64_t SkipIndexCatalog::num_opened() const {
  const std::lock_guard lock(mutex_);
  return num_opened_;
}

}  // namespace blocksieve::rocksdb_plugin

namespace blocksieve {

void ConfigureSkipIndexCache(const SkipIndexCacheOptions& options) {
  rocksdb_plugin::SkipIndexCatalog::Default().Configure(options.capacity_bytes, options.charged);
}

}  // namespace blocksieve
