#pragma once

#include <cstdint>
#include <initializer_list>

// Memory that runs out. A program that links failing_allocation.cc has its own operator new and,
// with the linker options that its CMakeLists.txt has, its own malloc and aligned_alloc.

namespace blocksieve::testing {

/// While one lives, an allocation of this thread fails: the n-th from now on, n counting from 1,
/// and with `for_good` all after it. What RocksDB's library allocates in its own functions always
/// succeeds: it is not made for anything else.
class FailingAllocation {
 public:
  FailingAllocation(uint64_t n, bool for_good);
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();

  /// From here on memory is there again.
  void End();

  /// Whether there were as many allocations as that.
  bool happened() const { return happened_; }

 private:
  bool happened_ = false;
};

/// Calls attempt() with each of its allocations failing in turn, alone and with all that follow,
/// and check(result, failed) after each of these attempts, with memory; the last is one of which
/// nothing failed. Returns the number of failures.
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
