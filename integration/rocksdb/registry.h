#pragma once

#include <rocksdb/filter_policy.h>

#include <memory>
#include <string>

namespace rocksdb {
class ObjectLibrary;
}

namespace blocksieve::rocksdb_plugin {

/// Adds the factory of "blocksieve" and "blocksieve:<target_fpr>" to `library`.
int RegisterFactories(rocksdb::ObjectLibrary& library);

}  // namespace blocksieve::rocksdb_plugin
