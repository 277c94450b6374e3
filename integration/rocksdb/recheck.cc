#include "integration/rocksdb/recheck.h"

namespace blocksieve::rocksdb_plugin {
namespace {

std::vector<rocksdb::Status> MultiGet(const ScanContext& context,
                                      const std::vector<rocksdb::Slice>& keys,
                                      std::vector<std::string>* values) {
  // DBWithTTL takes the time off the values of this call, but passes the batched one through.
  if (context.value_suffix_bytes != 0) {
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

}  // namespace

rocksdb::Status LookUp(const ScanContext& context, const std::vector<rocksdb::Slice>& keys,
                       std::vector<std::string>* values, std::vector<bool>* found) {
  found->assign(keys.size(), false);
  const std::vector<rocksdb::Status> statuses = MultiGet(context, keys, values);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!statuses[i].ok() && !statuses[i].IsNotFound()) return statuses[i];
    (*found)[i] = statuses[i].ok();
  }
  return rocksdb::Status::OK();
}

}  // namespace blocksieve::rocksdb_plugin
