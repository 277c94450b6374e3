#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "blocksieve/rocksdb/filter_policy.h"
#include "blocksieve/rocksdb/skip_index.h"

namespace blocksieve::testing {

/// The policy and the collector of these options, which are valid.
inline std::shared_ptr<const rocksdb::FilterPolicy> NewPolicy(
    const FilterPolicyOptions& options = {}) {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status = NewFilterPolicy(options, &policy);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return policy;
}
inline std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> NewCollectorFactory(
    const SkipIndexOptions& options, const SkipIndexStorage& storage = {}) {
  std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> factory;
  const rocksdb::Status status = NewSkipIndexCollectorFactory(options, storage, &factory);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return factory;
}

}  // namespace blocksieve::testing
