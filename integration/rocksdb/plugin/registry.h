#pragma once

#include <rocksdb/filter_policy.h>

#include <memory>
#include <string>

namespace rocksdb {
class ObjectLibrary;
}

namespace blocksieve::rocksdb_plugin {

/// Adds the factories of the filter policy, "blocksieve" and "blocksieve:<target_fpr>", and of the
/// skip index, "blocksieve.skip_index", to `library`. Returns their number.
int RegisterFactories(rocksdb::ObjectLibrary& library);

}  // namespace blocksieve::rocksdb_plugin
