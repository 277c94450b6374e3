// environment: prints what a reader of results must know of the machine and of this build, as JSON.

#include <fmt/format.h>
#include <sys/utsname.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "bench/support/measure.h"
#include "bench/support/rocksdb_tree.h"
#include "bench/support/terminal.h"
#include "blocksieve/kernels.h"

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

void Print() {
  const nlohmann::ordered_json document = {
      {"cpu", FirstValue("/proc/cpuinfo", "model name")},
      {"cores", std::thread::hardware_concurrency()},
      {"memory_bytes", MemoryBytes()},
      {"operating_system", OperatingSystem()},
      {"rocksdb", DescribeRocksDb()},
      {"kernel", KernelName(ActiveKernel())},
      {"compiler", BLOCKSIEVE_COMPILER},
      {"build_type", BLOCKSIEVE_BUILD_TYPE},
  };
  fmt::print("{}\n", document.dump(2));
}

}  // namespace
}  // namespace blocksieve::bench

int main() {
  return blocksieve::bench::RunMain([] { blocksieve::bench::Print(); });
}
