#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "bench/support/terminal.h"

// Time and memory.

namespace blocksieve::bench {

/// A figure that was measured in turns. From `low` to `high` is the middle half of the turns; of
/// three or fewer, of which quartiles say nothing, least and most.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
  size_t turns = 0;
};

/// REQUIRES: not empty.
Spread SpreadOf(std::vector<double> turns);

/// Ratio of what took turns side by side: what slows both down is not in it. REQUIRES: as many
/// turns of both, at least one.
Spread PairedRatio(const std::vector<double>& mine, const std::vector<double>& theirs);

/// Ratio of what was measured at different times, so that both spreads are in it. REQUIRES: both
/// positive.
Spread Quotient(const Spread& mine, const Spread& theirs);

/// Turns that are taken where one measurement is too short to be recorded by itself.
inline constexpr unsigned kTurns = 9;

/// Takes kTurns turns, in each of which `measure` measures again and again for `seconds` / kTurns,
/// at least once. Returns the median of each turn. Throws Interrupted if a signal came.
std::vector<double> TakeTurns(double seconds, const std::function<double()>& measure);

/// Calls `measure(i, turn)` for each of `count` contestants in each of these turns. Every turn
/// begins with another contestant. Throws Interrupted if a signal came.
template <class Measure>
void InTurns(unsigned turns, size_t count, Measure measure) {
  for (unsigned turn = 0; turn < turns; ++turn) {
    for (size_t i = 0; i < count; ++i) {
      CheckInterrupt();
      measure((i + turn) % count, turn);
    }
  }
}

/// Seconds since construction, by the clock and of processor time.
class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  /// Of all threads of the process, in user and in kernel mode.
  double CpuSeconds() const { return ProcessCpuSeconds() - cpu_start_; }

 private:
  static double ProcessCpuSeconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double cpu_start_ = ProcessCpuSeconds();
};

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

/// The memory of the machine, in bytes.
uint64_t MemoryBytes();

/// The resident memory of this process, in bytes, now and at its peak.
uint64_t ResidentBytes();
uint64_t PeakResidentBytes();

}  // namespace blocksieve::bench
