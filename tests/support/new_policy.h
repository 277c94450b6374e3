#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <memory>

#include "blocksieve/rocksdb/enable.h"

namespace blocksieve::testing {

/// The policy of these options, which are valid.
inline std::shared_ptr<const rocksdb::FilterPolicy> NewPolicy(const EnableOptions& options = {}) {
  std::shared_ptr<const rocksdb::FilterPolicy> policy;
  const rocksdb::Status status = NewFilterPolicy(options, &policy);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return policy;
}

}  // namespace blocksieve::testing
