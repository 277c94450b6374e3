#include <fmt/format.h>
#include <rocksdb/version.h>
#include <sys/utsname.h>

#include <fstream>
#include <string>
#include <thread>

#include "bench/support/measure.h"
#include "bench/support/results.h"
#include "lib/base/kernels.h"

namespace blocksieve::bench {
namespace {

/// The first value of `field` in a file of lines "field : value"; "unknown" without one.
std::string FirstValue(const char* path, const std::string& field) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (line.starts_with(field) && colon != std::string::npos) {
      return line.substr(line.find_first_not_of(" \t", colon + 1));
    }
  }
  return "unknown";
}

std::string OperatingSystem() {
  utsname names{};
  if (::uname(&names) != 0) return "unknown";
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

bool IsDebian() {
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);) {
    if (line == "ID=debian") return true;
  }
  return false;
}

}  // namespace

std::string DescribeRocksDb() {
  std::string version = rocksdb::GetRocksVersionAsString();
  if (version == "7.8.3" && IsDebian()) {
    return version +
           " (Debian's build, without AVX2 and with assertions: its own filters are slower than in "
           "an optimised build; sizes and reads are the same)";
  }
  return version;
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
