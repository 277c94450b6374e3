#include "blocksieve/rocksdb/filter_policy.h"

// Only in libblocksieve_rocksdb.so: loading it, by whatever means, registers the policy.

namespace {

[[gnu::constructor]] void RegisterOnLoad() { blocksieve_rocksdb_register(); }

}  // namespace
