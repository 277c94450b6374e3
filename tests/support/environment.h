#pragma once

#include <cstdint>
#include <cstdlib>

namespace blocksieve::testing {

/// Whether an environment variable is there, with whatever value.
inline bool IsSet(const char* variable) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no test sets these
  return std::getenv(variable) != nullptr;
}

/// The number in an environment variable, or another one if it is not there.
inline uint64_t NumberFromEnvironment(const char* variable, uint64_t otherwise) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no test sets these
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Whether tests are to run at full length.
inline bool LongTests() { return IsSet("BLOCKSIEVE_LONG_TESTS"); }

/// Whether golden files are to be made anew: for a new version of a format only.
inline bool WritesGoldenFiles() { return IsSet("BLOCKSIEVE_WRITE_GOLDEN"); }

}  // namespace blocksieve::testing
