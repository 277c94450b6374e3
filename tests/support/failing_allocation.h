#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>

// Simulates short memory. failing_allocation.cc replaces operator new and, with the linker options
// in CMakeLists.txt, malloc and aligned_alloc.

namespace blocksieve::testing {

/// During its lifetime, the n-th allocation of this thread fails, counted from 1, and with
/// `for_good` all later ones too. Allocations inside RocksDB's library always succeed, as it cannot
/// handle failures.
class FailingAllocation {
 public:
  FailingAllocation(uint64_t n, bool for_good);
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();

  /// Lets all later allocations succeed.
  void End();

  /// Whether an allocation failed: at least n were made.
  bool happened() const { return happened_; }

 private:
  bool happened_ = false;
};

/// Calls attempt() with each of its allocations failing in turn, alone and with all later ones.
/// Calls check(result, failed) after each attempt, with memory. Ends with an attempt in which no
/// allocation failed. Returns the number of failures.
template <class Attempt, class Check>
uint64_t FailEachAllocation(Attempt attempt, Check check) {
  uint64_t failures = 0;
  for (const bool for_good : {false, true}) {
    for (uint64_t n = 1;; ++n) {
      FailingAllocation failing(n, for_good);
      auto result = attempt();
      failing.End();
      check(result, failing.happened());
      if (!failing.happened()) break;
      ++failures;
    }
  }
  return failures;
}

}  // namespace blocksieve::testing
