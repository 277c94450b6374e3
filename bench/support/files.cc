// SPDX-License-Identifier: Apache-2.0
#include "bench/support/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "bench/support/terminal.h"

namespace blocksieve::bench {

TempDir::TempDir(const std::filesystem::path& parent) {
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  if (error) Fail("cannot create directory {}: {}", parent.string(), error.message());
  std::string name = (parent / "bench.XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    Fail("cannot create a directory in {}: {}", parent.string(), std::strerror(errno));
  }
  path_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;  // nothing sensible is left to do
  std::filesystem::remove_all(path_, ignored);
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

}  // namespace blocksieve::bench
