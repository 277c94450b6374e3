#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace blocksieve::internal {

/// What becomes of the answers of filters, ranges and skip indexes, in builds that test the tests.
enum class Answers {
  kTrue,      // nothing
  kMayMatch,  // each "no" is "may match": reads show the same rows, and skip nothing
  kLost,      // keys, ranges and last granules get "no": a test of rows that passes tests nothing
};

#ifdef BLOCKSIEVE_ALTERED_ANSWERS
inline constexpr bool kCanAlterAnswers = true;

/// At first what the environment variable BLOCKSIEVE_ANSWERS says: may_match or lost. Filters keep
/// what it was when they were opened.
inline std::atomic<Answers>& AlteredAnswers() {
  static std::atomic<Answers> answers = [] {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing sets it
    const char* const name = std::getenv("BLOCKSIEVE_ANSWERS");
    const std::string_view text = name == nullptr ? "" : name;
    return text == "may_match" ? Answers::kMayMatch
           : text == "lost"    ? Answers::kLost
                               : Answers::kTrue;
  }();
  return answers;
}
#else
// Whoever can set an environment variable must not be able to lose rows of a product.
inline constexpr bool kCanAlterAnswers = false;
constexpr Answers AlteredAnswers() { return Answers::kTrue; }
#endif

}  // namespace blocksieve::internal
