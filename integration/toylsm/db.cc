#include "integration/toylsm/db.h"

#include <algorithm>
#include <numeric>
#include <utility>

// Reading.

namespace blocksieve::toylsm {

std::shared_ptr<const Version> Db::version() const {
  const std::lock_guard lock(view_mutex_);
  return version_;
}

// Data and sequence are of the same moment: newer data might lack versions that an older sequence
// still sees, if no snapshot kept them.
View Db::ViewAt(const Snapshot* at) const {
  const std::lock_guard lock(view_mutex_);
  return {version_, at != nullptr ? at->sequence() : last_sequence_};
}

Result<std::optional<FoundEntry>> Db::Find(const View& view, std::string_view key) {
  if (const std::optional<Entry> entry = view.version->memtable->Find(key, view.sequence)) {
    return std::optional<FoundEntry>({*entry, nullptr});
  }
  for (const Run& run : view.version->runs) {
    const size_t file = run.FindFile(key);
    if (file == run.files.size()) continue;
    auto found = run.files[file]->Find(key, view.sequence, read_context());
    if (!found.ok() || found->has_value()) return found;
  }
  return std::optional<FoundEntry>();
}

Result<std::optional<std::string>> Db::Get(std::string_view key, const Snapshot* at) {
  auto values = MultiGet({&key, 1}, at);
  if (!values.ok()) return values.status();
  return std::move(values->front());
}

Result<std::vector<std::optional<std::string>>> Db::MultiGet(std::span<const std::string_view> keys,
                                                             const Snapshot* at) {
  const View view = ViewAt(at);
  std::vector<std::optional<std::string>> values(keys.size());
  // In key order, neighbours find each other's blocks and filters in the cache.
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  for (const size_t i : order) {
    const Result<std::optional<FoundEntry>> found = Find(view, keys[i]);
    if (!found.ok()) return found.status();
    if (found->has_value() && (*found)->entry.type == EntryType::kPut) {
      values[i] = (*found)->entry.value;
    }
  }
  return values;
}

std::unique_ptr<Iterator> Db::NewIterator(const Snapshot* at) {
  return std::make_unique<Iterator>(ViewAt(at), read_context());
}

std::unique_ptr<toylsm::Scan> Db::Scan(const Predicate& predicate, const Snapshot* at,
                                       bool use_index) {
  return std::make_unique<toylsm::Scan>(ViewAt(at), read_context(), predicate, use_index);
}

std::unique_ptr<const Snapshot> Db::GetSnapshot() {
  const std::lock_guard lock(view_mutex_);
  snapshots_.insert(last_sequence_);
  return std::make_unique<const Snapshot>(this, last_sequence_);
}

Snapshot::~Snapshot() {
  const std::lock_guard lock(db_->view_mutex_);
  db_->snapshots_.erase(db_->snapshots_.find(sequence_));
}

std::vector<Sequence> Db::SnapshotSequences() const {
  const std::lock_guard lock(view_mutex_);
  return {snapshots_.begin(), snapshots_.end()};
}

}  // namespace blocksieve::toylsm
