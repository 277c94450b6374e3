#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace blocksieve::testing {

/// Whether an environment variable is set, to any value.
inline bool IsSet(const char* variable) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no test sets these
  return std::getenv(variable) != nullptr;
}

/// The number in an environment variable, or `otherwise` if it is not set.
inline uint64_t NumberFromEnvironment(const char* variable, uint64_t otherwise) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no test sets these
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Whether tests run at full length.
inline bool LongTests() { return IsSet("BLOCKSIEVE_LONG_TESTS"); }

/// Whether to rewrite golden files, which only a new version of a format needs.
inline bool WritesGoldenFiles() { return IsSet("BLOCKSIEVE_WRITE_GOLDEN"); }

/// The path of a file in the source tree, such as `tests/golden`. A function, because a path
/// compiled into each test would keep another clone from using the compiler cache.
std::string SourcePath(std::string_view path);

}  // namespace blocksieve::testing
