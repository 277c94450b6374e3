// SPDX-License-Identifier: Apache-2.0
#include "integration/rocksdb/index/skip_index_catalog.h"

#include <algorithm>

#include "blocksieve/rocksdb/skip_index.h"
#include "integration/rocksdb/index/skip_index_properties.h"
#include "lib/base/altered_answers.h"

namespace blocksieve::rocksdb_plugin {

SstIndex::SstIndex(std::shared_ptr<const rocksdb::TableProperties> properties, const SstPlace& sst,
                   std::optional<std::vector<Column>> columns, const ReadCarried& read_carried)
    : properties_(std::move(properties)),
      columns_(std::move(columns)),
      looked_for_carried_(read_carried != nullptr) {
  if (sst.file_system != nullptr && OpenSidecar(sst)) return;
  columns_.reset();
  OpenProperties();
  if (index_ || !looked_for_carried_) return;
  carried_ = read_carried(sst);
  if (carried_.index != nullptr) {
    problem_.clear();
    value_suffix_bytes_ = carried_.value_suffix_bytes;
  } else if (!carried_.problem.empty()) {
    problem_ = carried_.problem;
    is_lasting_ = false;  // the file could not be read now
  }
}

bool SstIndex::OpenSidecar(const SstPlace& sst) {
  std::string problem;
  const std::unique_ptr<SidecarFile> sidecar =
      SidecarFile::Open(sst, *properties_, &problem, &lacks_sidecar_);
  if (sidecar != nullptr) {
    is_in_sidecar_ =
        Keep(columns_ ? SkipIndex::Read(sidecar.get(), *columns_) : SkipIndex::Read(sidecar.get()));
    problem = problem_;
  }
  if (is_in_sidecar_) {
    value_suffix_bytes_ = sidecar->header().value_suffix_bytes;
  } else if (properties_->user_collected_properties.contains(kSidecarProperty)) {
    problem_ = "index unusable: " + problem;
    is_lasting_ = false;
  }
  return is_in_sidecar_;
}

void SstIndex::OpenProperties() {
  const auto& user = properties_->user_collected_properties;
  const auto bytes = user.find(kIndexProperty);
  if (bytes == user.end()) {
    if (!problem_.empty()) return;
    const std::string_view reason = FindProperty(user, kProblemProperty);
    problem_ = reason.empty() ? "written without an index" : "no index: " + std::string(reason);
    return;
  }
  const auto settings = ReadIdentityText(FindProperty(user, kIdentityProperty));
  if (!settings) {
    problem_ = std::string("property ") + kIdentityProperty + " is damaged or of another version";
    return;
  }
  value_suffix_bytes_ = settings->value_suffix_bytes;
  if (Keep(SkipIndex::Open(AsBytes(bytes->second)))) return;
  problem_ = "index unusable: " + problem_;
}

bool SstIndex::Keep(Result<SkipIndex> index) {
  if (index.ok()) {
    index_ = *std::move(index);
    problem_.clear();
    return true;
  }
  problem_ = index.status().message();
  is_lasting_ = index.status().code() != StatusCode::kResourceExhausted;
  return false;
}

bool SstIndex::GetKeyRange(size_t granule, std::string* first, std::string* last) const {
  if (carried_.get_keys) return carried_.get_keys(granule, first, last);
  index_->GetKeyRange(granule, first, last);
  return true;
}

bool SstIndex::HasRead(std::span<const Column> columns) const {
  return !columns_ || std::ranges::all_of(columns, [this](const Column& one) {
    return std::ranges::any_of(*columns_,
                               [&one](const Column& other) { return one.key() == other.key(); });
  });
}

uint64_t SstIndex::memory_bytes() const {
  constexpr uint64_t kOverhead = 1024;  // this object, and its nodes in the map and the list
  if (!index_) return kOverhead + carried_.memory_bytes;
  // The properties, which this keeps alive, have the bytes of an index outside a sidecar.
  return kOverhead + index_->memory_bytes() + (is_in_sidecar_ ? 0 : index_->index_bytes());
}

SkipIndexCatalog& SkipIndexCatalog::Default() {
  // Never destroyed: databases may be read while static destructors run.
  static auto& catalog = *new SkipIndexCatalog(SkipIndexCacheOptions().capacity_bytes);
  return catalog;
}

std::shared_ptr<const SstIndex> SkipIndexCatalog::Open(
    const std::optional<SidecarId>& id,
    const std::shared_ptr<const rocksdb::TableProperties>& properties, const SstPlace& sst,
    std::span<const Column> columns, const ReadCarried& read_carried) {
  std::vector<Column> all;
  if (internal::FailsAt("find_index")) throw std::bad_alloc();
  if (id) {
    const std::lock_guard lock(mutex_);
    if (const auto found = positions_.find(*id); found != positions_.end()) {
      const SstIndex& known = *found->second->second;
      const bool lacks_carried =
          known.index() == nullptr && read_carried && !known.looked_for_carried();
      if (known.HasRead(columns) && !lacks_carried) {
        entries_.splice(entries_.begin(), entries_, found->second);
        return found->second->second;
      }
      if (known.columns()) all = *known.columns();
    }
  }
  all.insert(all.begin(), columns.begin(), columns.end());
  auto index = std::make_shared<const SstIndex>(properties, sst, std::move(all), read_carried);
  Insert(id, index);
  return index;
}

void SkipIndexCatalog::Forget(const rocksdb::TableProperties& properties) {
  const std::optional<SidecarId> id = IdOfSst(properties);
  if (!id) return;
  const std::lock_guard lock(mutex_);
  if (const auto old = positions_.find(*id); old != positions_.end()) Erase(old);
  Shrink();
}

void SkipIndexCatalog::Keep(std::shared_ptr<const IndexesOfFiles> files, uint64_t num_dropped) {
  constexpr size_t kMaxKept = 16;
  const std::lock_guard lock(mutex_);
  if (num_dropped != num_dropped_) return;
  if (kept_.size() == kMaxKept) kept_.erase(kept_.begin());
  kept_.push_back(std::move(files));
}

std::pair<std::shared_ptr<const IndexesOfFiles>, uint64_t> SkipIndexCatalog::FindKept(
    uint64_t owner, uint64_t earlier_owner, const std::vector<Column>& columns) const {
  const std::lock_guard lock(mutex_);
  for (const uint64_t wanted : {owner, earlier_owner}) {
    const auto found = std::find_if(kept_.rbegin(), kept_.rend(), [&](const auto& one) {
      return one->owner == wanted && one->columns == columns;
    });
    if (found != kept_.rend()) return {*found, num_dropped_};
  }
  return {nullptr, num_dropped_};
}

void SkipIndexCatalog::Erase(Positions::iterator position) {
  kept_.clear();  // they would keep its memory
  ++num_dropped_;
  used_bytes_ -= position->second->second->memory_bytes();
  entries_.erase(position->second);
  positions_.erase(position);
}

bool SkipIndexCatalog::Holds(const SstIndex& index, uint64_t num_dropped) const {
  const std::lock_guard lock(mutex_);
  return Takes(index) && num_dropped == num_dropped_;
}

bool SkipIndexCatalog::Takes(const SstIndex& index) const {
  // An index larger than this would evict all others, and be evicted next.
  return index.is_lasting() && index.memory_bytes() <= capacity_bytes_ / 2;
}

void SkipIndexCatalog::Insert(const std::optional<SidecarId>& id,
                              const std::shared_ptr<const SstIndex>& index) {
  if (internal::FailsAt("keep_index")) throw std::bad_alloc();
  const std::lock_guard lock(mutex_);
  if (!id || !Takes(*index)) return;
  if (const auto old = positions_.find(*id); old != positions_.end()) Erase(old);
  // If either allocation fails, nothing has changed.
  std::list<Entry> entry;
  entry.emplace_front(*id, index);
  positions_[*id] = entry.begin();
  entries_.splice(entries_.begin(), entry);
  used_bytes_ += index->memory_bytes();
  Shrink();
}

void SkipIndexCatalog::Configure(uint64_t capacity_bytes, std::shared_ptr<rocksdb::Cache> charged) {
  auto charge = charged == nullptr ? nullptr : std::make_unique<CacheCharge>(std::move(charged));
  const std::lock_guard lock(mutex_);
  capacity_bytes_ = capacity_bytes;
  charge_ = std::move(charge);
  Shrink();
}

void SkipIndexCatalog::Shrink() {
  while (used_bytes_ > capacity_bytes_ || (charge_ != nullptr && !charge_->Set(used_bytes_))) {
    Erase(positions_.find(entries_.back().first));
  }
}

uint64_t SkipIndexCatalog::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

}  // namespace blocksieve::rocksdb_plugin

namespace blocksieve {

void ConfigureSkipIndexCache(const SkipIndexCacheOptions& options) {
  rocksdb_plugin::SkipIndexCatalog::Default().Configure(options.capacity_bytes, options.charged);
}

}  // namespace blocksieve
