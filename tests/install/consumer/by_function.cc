#include <blocksieve/rocksdb/filter_policy.h>

#include "policy.h"

std::shared_ptr<const rocksdb::FilterPolicy> MakePolicy() {
  return *blocksieve::NewFilterPolicy({.target_fpr = 0.001});
}
