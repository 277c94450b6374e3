#include "bench/ranges/questions.h"

#include <fmt/format.h>

#include <iterator>

namespace blocksieve::bench::ranges {
namespace {

// Of those that begin elsewhere: short, so that where they begin is what counts.
constexpr double kElsewhereLength = 0.01;

}  // namespace

const char* StartsName(Starts starts) {
  switch (starts) {
    case Starts::kAtOthers:
      return "uncorrelated";
    case Starts::kAtHotOthers:
      return "hot";
    case Starts::kRightAfterKey:
      return "after_key";
  }
  return "";
}

std::vector<Question> DrawQuestions(const KeySet& set, size_t count, uint64_t seed) {
  std::vector<Question> questions;
  const auto add = [&](std::string name, double expected_keys, Starts starts) {
    questions.push_back({std::move(name), expected_keys, starts,
                         DrawEmptyRanges(set, expected_keys, starts, count, seed++)});
  };
  for (const double length : kLengths) {
    add(length == 1 ? "1 key" : fmt::format("{:g} keys", length), length, Starts::kAtOthers);
  }
  if (set.name == kTenantTime) add("hot starts", kElsewhereLength, Starts::kAtHotOthers);
  add("right after a key", kElsewhereLength, Starts::kRightAfterKey);
  return questions;
}

std::vector<Range> MixedLengths(const std::vector<Question>& questions) {
  std::vector<Range> mixed;
  for (size_t i = 0; i < questions.front().ranges.size(); ++i) {
    for (size_t length = 0; length < std::size(kLengths); ++length) {
      mixed.push_back(questions[length].ranges[i]);
    }
  }
  return mixed;
}

}  // namespace blocksieve::bench::ranges
