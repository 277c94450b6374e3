#include "bench/space/build_memory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "bench/space/hashes.h"
#include "bench/support/failure.h"
#include "blocksieve/filter_builder.h"

namespace blocksieve::bench::space {
namespace {

/// A field of /proc/self/status in bytes; 0 if it is not there.
uint64_t ReadStatus(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string name;
  uint64_t kilobytes = 0;
  while (status >> name) {
    if (name == field + ":" && status >> kilobytes) return kilobytes * 1024;
    std::getline(status, name);
  }
  return 0;
}

/// What the child process does. 0 if it fails.
double GrowthPerKey(FilterKind kind, double target_fpr, uint64_t num_keys) {
  const uint64_t before = ReadStatus("VmRSS");
  FilterOptions options;
  options.kind = kind;
  options.target_fpr = target_fpr;
  Result<FilterBuilder> builder = FilterBuilder::Create(options);
  if (!builder.ok()) return 0;
  for (uint64_t i = 0; i < num_keys; ++i) builder->AddHash(HashOf(i));
  const Result<OwnedBytes> block = builder->Finish();
  if (!block.ok() || before == 0) return 0;
  const auto grown = static_cast<double>(ReadStatus("VmHWM") - before - block->size);
  return grown / static_cast<double>(num_keys);
}

}  // namespace

double MeasureBuildMemory(FilterKind kind, double target_fpr, uint64_t num_keys) {
  int ends[2];
  if (::pipe(ends) != 0) Fail("cannot make a pipe");
  std::fflush(nullptr);  // or the child would print it a second time
  const pid_t child = ::fork();
  if (child < 0) Fail("cannot start a process");
  if (child == 0) {
    const double result = GrowthPerKey(kind, target_fpr, num_keys);
    const bool is_written = ::write(ends[1], &result, sizeof result) == sizeof result;
    ::_exit(is_written && result > 0 ? 0 : 1);
  }
  ::close(ends[1]);
  double result = 0;
  const bool is_read = ::read(ends[0], &result, sizeof result) == sizeof result;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!is_read || status != 0) {
    Fail("building {} filter of {} keys in a process of its own failed", FilterKindName(kind),
         num_keys);
  }
  return result;
}

}  // namespace blocksieve::bench::space
