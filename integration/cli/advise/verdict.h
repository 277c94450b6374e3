#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "integration/cli/advise/advice.h"

namespace blocksieve::cli {

/// What is to be done about the filters of a column family.
struct Verdict {
  std::string words;               ///< A sentence.
  std::optional<size_t> proposal;  ///< Which to change to; nothing: leave it.
};

/// "14 times fewer wasted reads and 31 % less memory": what `after` is compared with `before`.
std::string DifferenceText(const Outlook& before, const Outlook& after);

/// A change has to save this share of the wasted reads or of the memory.
inline constexpr double kLeastGain = 0.05;

Verdict VerdictOf(const Advice& advice);

}  // namespace blocksieve::cli
