// Refers to nothing of the plug-in, which a linker might therefore drop.

#include <rocksdb/convenience.h>

#include "policy.h"

std::shared_ptr<const rocksdb::FilterPolicy> MakePolicy() {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status =
      rocksdb::FilterPolicy::CreateFromString({}, "blocksieve:0.001", &policy);
  return status.ok() ? policy : nullptr;
}
