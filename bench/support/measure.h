#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <vector>

#include "bench/support/terminal.h"

// Time and memory.

namespace blocksieve::bench {

/// a / b, in floating point.
template <class A, class B>
double Ratio(A a, B b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

/// The median of repeated measurements, here called turns. `low` and `high` are the quartiles; for
/// three turns or fewer, where quartiles say nothing, the minimum and maximum.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
  size_t turns = 0;
};

/// REQUIRES: not empty.
Spread SpreadOf(std::vector<double> turns);

/// Ratio of two measurements whose turns alternated, so that a load on the machine cancels out.
/// REQUIRES: the same number of turns, at least one.
Spread PairedRatio(const std::vector<double>& mine, const std::vector<double>& theirs);

/// Calls `measure(i, turn)` for each of `count` contestants in each turn. Every turn begins with
/// another contestant. Throws Interrupted after a signal.
template <class Measure>
void InTurns(unsigned turns, size_t count, Measure measure) {
  for (unsigned turn = 0; turn < turns; ++turn) {
    for (size_t i = 0; i < count; ++i) {
      CheckInterrupt();
      measure((i + turn) % count, turn);
    }
  }
}

/// Wall-clock and processor time since construction, in seconds.
class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  /// Processor time of all threads of the process, and of the commands that it ran, in user and
  /// kernel mode.
  double CpuSeconds() const { return ProcessCpuSeconds() - cpu_start_; }

 private:
  static double ProcessCpuSeconds() {
    double seconds = 0;
    for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage usage{};
      ::getrusage(who, &usage);
      for (const timeval& time : {usage.ru_utime, usage.ru_stime})
        seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    }
    return seconds;
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double cpu_start_ = ProcessCpuSeconds();
};

/// Waits for the loads so far. Otherwise a processor that predicts an answer begins the next probe
/// early, and filters whose answer is a branch overlap cache misses, but others do not: 86 and 320
/// ns were measured for the same misses.
inline void WaitForLoads() {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

/// Whether files in `dir` can be read with O_DIRECT, past the page cache. Not on tmpfs.
bool SupportsDirectReads(const std::filesystem::path& dir);

/// The memory of the machine, in bytes.
uint64_t MemoryBytes();

/// The most memory that `work` takes at a time, in bytes: how far the peak of this process's
/// resident memory is above what it had before.
double PeakBytesOf(const std::function<void()>& work);

}  // namespace blocksieve::bench
