#include "integration/rocksdb/scan/recheck.h"

#include <memory>

namespace blocksieve::rocksdb_plugin {
namespace {

std::vector<rocksdb::Status> MultiGet(const ScanContext& context,
                                      const std::vector<rocksdb::Slice>& keys,
                                      std::vector<std::string>* values) {
  // Databases around another one define this call: DBWithTTL takes the time off the values, that of
  // WRITE_PREPARED transactions hides what is not committed. The batched one they pass through.
  if (context.db->GetRootDB() != context.db) {
    return context.db->MultiGet(
        context.read_options,
        std::vector<rocksdb::ColumnFamilyHandle*>(keys.size(), context.column_family), keys,
        values);
  }
  std::vector<rocksdb::PinnableSlice> pinned(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  context.db->MultiGet(context.read_options, context.column_family, keys.size(), keys.data(),
                       pinned.data(), statuses.data(), /*sorted_input=*/true);
  values->resize(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].ok()) (*values)[i].assign(pinned[i].data(), pinned[i].size());
  }
  return statuses;
}

// What MultiGet does not tell is the key that is stored now, whose bytes may be others.
rocksdb::Status LookUpStoredKeys(const ScanContext& context,
                                 const std::vector<rocksdb::Slice>& keys,
                                 std::vector<std::string>* values, std::vector<bool>* found,
                                 std::vector<std::string>* stored_keys) {
  values->resize(keys.size());
  stored_keys->resize(keys.size());
  const std::unique_ptr<rocksdb::Iterator> iterator(
      context.db->NewIterator(context.read_options, context.column_family));
  for (size_t i = 0; i < keys.size(); ++i) {
    iterator->Seek(keys[i]);
    if (!iterator->Valid()) {
      if (!iterator->status().ok()) return iterator->status();
      continue;
    }
    (*found)[i] = context.comparator->Equal(iterator->key(), keys[i]);
    if (!(*found)[i]) continue;
    (*values)[i] = iterator->value().ToString();
    (*stored_keys)[i] = iterator->key().ToString();
  }
  return rocksdb::Status::OK();
}

}  // namespace

rocksdb::Status LookUp(const ScanContext& context, const std::vector<rocksdb::Slice>& keys,
                       std::vector<std::string>* values, std::vector<bool>* found,
                       std::vector<std::string>* stored_keys) {
  found->assign(keys.size(), false);
  if (context.comparator->CanKeysWithDifferentByteContentsBeEqual()) {
    return LookUpStoredKeys(context, keys, values, found, stored_keys);
  }
  const std::vector<rocksdb::Status> statuses = MultiGet(context, keys, values);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!statuses[i].ok() && !statuses[i].IsNotFound()) return statuses[i];
    (*found)[i] = statuses[i].ok();
  }
  return rocksdb::Status::OK();
}

}  // namespace blocksieve::rocksdb_plugin
