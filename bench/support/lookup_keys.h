#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/support/rows.h"

namespace blocksieve::bench {

/// What one round looks up. The same for every contestant.
struct LookupKeys {
  std::vector<uint32_t> present;    ///< Row numbers, uniformly random, with repetition.
  std::vector<std::string> absent;  ///< Keys that `rows` does not have.
};

/// `count` of each kind.
///
/// An absent key is a present one with one byte of its second half replaced by a byte that another
/// key has in its second half. So it looks like the present ones, and lies among them: neither the
/// key ranges of files nor a filter that is only good at telling random bytes from real keys answer
/// for it. Throws Failure if the keys are so dense that absent ones are not found.
LookupKeys DrawLookupKeys(const Rows& rows, uint64_t count, uint64_t seed);

}  // namespace blocksieve::bench
