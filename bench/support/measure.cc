// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <malloc.h>
#include <rocksdb/version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <fstream>
#include <system_error>
#include <thread>

#include "bench/support/measure.h"
#include "bench/support/results.h"
#include "lib/base/kernels.h"

namespace blocksieve::bench {
namespace {

/// The first value of `field` in a file of lines "field : value"; "unknown" without one.
std::string FirstValue(const char* path, const std::string& field, char separator = ':') {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t at = line.find(separator);
    if (line.starts_with(field) && at != std::string::npos) {
      return line.substr(line.find_first_not_of(" \t", at + 1));
    }
  }
  return "unknown";
}

/// A field of /proc/self/status in bytes.
uint64_t StatusBytes(const char* field) {
  return 1024 * std::stoull(FirstValue("/proc/self/status", field));  // "1234 kB"
}

std::string OperatingSystem() {
  utsname names{};
  if (::uname(&names) != 0) return "unknown";
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

}  // namespace

Spread SpreadOf(std::vector<double> turns) {
  constexpr size_t kTooFewForQuartiles = 3;
  assert(!turns.empty());
  std::sort(turns.begin(), turns.end());
  // Interpolates between the two nearest turns.
  const auto at = [&](double part) {
    const double place = part * static_cast<double>(turns.size() - 1);
    const auto i = static_cast<size_t>(place);
    const double above = turns[std::min(i + 1, turns.size() - 1)];
    return turns[i] + (above - turns[i]) * (place - static_cast<double>(i));
  };
  const bool are_few = turns.size() <= kTooFewForQuartiles;
  return {at(0.5), are_few ? turns.front() : at(0.25), are_few ? turns.back() : at(0.75),
          turns.size()};
}

Spread PairedRatio(const std::vector<double>& mine, const std::vector<double>& theirs) {
  assert(mine.size() == theirs.size());
  std::vector<double> ratios;
  for (size_t i = 0; i < mine.size(); ++i) ratios.push_back(mine[i] / theirs[i]);
  return SpreadOf(std::move(ratios));
}

std::string DescribeRocksDb() {
  std::string version = rocksdb::GetRocksVersionAsString();
  if (version == "7.8.3" && FirstValue("/etc/os-release", "ID=", '=') == "debian") {
    return version +
           " (Debian's build, without AVX2 and with assertions: its own filters are slower than in "
           "an optimised build; sizes and reads are the same)";
  }
  return version;
}

bool SupportsDirectReads(const std::filesystem::path& dir) {
  const std::filesystem::path probe = dir / "direct_read_probe";
  std::ofstream(probe) << "x";
  const int fd = ::open(probe.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  if (fd >= 0) ::close(fd);
  std::error_code ignored;
  std::filesystem::remove(probe, ignored);
  return fd >= 0;
}

uint64_t MemoryBytes() {
  return static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(::sysconf(_SC_PAGE_SIZE));
}

double PeakBytesOf(const std::function<void()>& work) {
  malloc_trim(0);  // or the work would use memory that this process has freed
  std::ofstream peak("/proc/self/clear_refs");
  peak << "5" << std::flush;  // the peak is what it has now: proc(5)
  if (!peak) Fail("cannot write /proc/self/clear_refs");
  const uint64_t before = StatusBytes("VmHWM");
  work();
  return static_cast<double>(StatusBytes("VmHWM") - before);
}

Json DescribeMachine() {
  return {
      {"cpu", FirstValue("/proc/cpuinfo", "model name")},
      {"cores", std::thread::hardware_concurrency()},
      {"memory_bytes", MemoryBytes()},
      {"operating_system", OperatingSystem()},
      {"rocksdb", DescribeRocksDb()},
      {"kernel", KernelName(ActiveKernel())},
      {"compiler", BLOCKSIEVE_COMPILER},
      {"build_type", BLOCKSIEVE_BUILD_TYPE},
  };
}

}  // namespace blocksieve::bench
