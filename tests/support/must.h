#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <utility>

#include "blocksieve/status.h"

namespace blocksieve::testing {

/// The value of a result, which the test expects to be ok.
template <class T>
T Must(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.status().message();
  return *std::move(result);
}

}  // namespace blocksieve::testing
