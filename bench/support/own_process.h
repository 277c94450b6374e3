#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

namespace blocksieve::bench {

/// Runs `work` in a process of its own, which begins with the memory of this one, and copies what
/// it left in the `size` bytes at `result` back. `what` names it in errors. Throws Failure if it
/// fails, Interrupted if a signal came.
void RunInOwnProcess(const char* what, void* result, size_t size,
                     const std::function<void()>& work);

/// The same for a function with a result of plain bytes.
template <class Work>
auto InOwnProcess(const char* what, Work work) {
  using Outcome = decltype(work());
  static_assert(std::is_trivially_copyable_v<Outcome>, "it goes through a pipe");
  Outcome outcome{};
  RunInOwnProcess(what, &outcome, sizeof outcome, [&] { outcome = work(); });
  return outcome;
}

/// The resident memory of this process, in bytes, now and at its peak.
uint64_t ResidentBytes();
uint64_t PeakResidentBytes();

}  // namespace blocksieve::bench
