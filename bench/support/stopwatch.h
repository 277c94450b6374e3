#pragma once

#include <sys/resource.h>

#include <chrono>

namespace blocksieve::bench {

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

}  // namespace blocksieve::bench
