#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace blocksieve::internal {

/// What becomes of the answers of filters, ranges and skip indexes, in builds that test the tests.
enum class Answers {
  kTrue,      // nothing
  kMayMatch,  // each "no" is "may match": reads show the same rows, and skip nothing
  kLost,      // keys, ranges and last granules get "no": a test of rows that passes tests nothing
  kGranted,   // true; but the room that a budget fails to reserve counts as reserved
};

/// Where those builds can delay the caller, make it fail as it can, or end the process.
inline constexpr std::string_view kPlaces[] = {"before_account", "after_account", "write_sidecar",
                                               "rename_sidecar", "find_index",    "keep_index",
                                               "next_rewrite",   "reserve"};
inline constexpr int kExitedAtPlace = 77;

struct ArmedPlace {
  std::atomic<size_t> place = std::size(kPlaces);  // none
  std::atomic<char> kind = 'f';                    // of delay, fail and exit
  std::atomic<size_t> every = 1;                   // this many passages, it happens
  std::atomic<size_t> passages[std::size(kPlaces)] = {};
};
inline ArmedPlace armed_place;

#ifdef BLOCKSIEVE_ALTERED_ANSWERS
inline constexpr bool kCanAlterAnswers = true;

/// At first what the environment variable BLOCKSIEVE_ANSWERS says: may_match, lost or granted.
/// Filters keep what it was when they were opened.
inline std::atomic<Answers>& AlteredAnswers() {
  static std::atomic<Answers> answers = [] {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing sets it
    const char* const name = std::getenv("BLOCKSIEVE_ANSWERS");
    const std::string_view text = name == nullptr ? "" : name;
    return text == "may_match" ? Answers::kMayMatch
           : text == "lost"    ? Answers::kLost
           : text == "granted" ? Answers::kGranted
                               : Answers::kTrue;
  }();
  return answers;
}

/// Whether the caller must fail.
inline bool FailsAt(std::string_view place) {
  const size_t armed = armed_place.place;
  if (armed == std::size(kPlaces) || kPlaces[armed] != place) return false;
  if (++armed_place.passages[armed] % armed_place.every != 0) return false;
  if (armed_place.kind == 'e') std::_Exit(kExitedAtPlace);
  if (armed_place.kind == 'd') std::this_thread::sleep_for(std::chrono::milliseconds(3));
  return armed_place.kind == 'f';
}
#else
// Whoever can set an environment variable must not be able to lose rows of a product.
inline constexpr bool kCanAlterAnswers = false;
constexpr Answers AlteredAnswers() { return Answers::kTrue; }
constexpr bool FailsAt(std::string_view) { return false; }
#endif

}  // namespace blocksieve::internal
