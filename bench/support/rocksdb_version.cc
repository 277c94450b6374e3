#include "bench/support/rocksdb_version.h"

#include <rocksdb/version.h>

#include <fstream>

namespace blocksieve::bench {
namespace {

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
           ", as Debian builds it, without AVX2 and with assertions on: its built-in filters are "
           "slower here than in an optimised build, sizes and reads are the same";
  }
  return version;
}

}  // namespace blocksieve::bench
