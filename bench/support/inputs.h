#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>

#include "bench/support/job.h"
#include "bench/support/rows.h"

namespace blocksieve::bench {

/// The fewest distinct keys that make a tree of several levels worth measuring.
inline constexpr uint64_t kMinRows = 1'000;
/// The most rows: row numbers have 32 bits.
inline constexpr uint64_t kMaxRows = 1'000'000'000;

/// The rows that a run fills its databases with.
struct Input {
  Rows rows;
  std::string description;  ///< One sentence for the report: source, keys and values.
};

// All throw Failure if the result has fewer than kMinRows rows. Reading stops at `max_bytes` of
// keys and values, and the description says so. If several rows have one key, the first one counts.

/// The rows of a job: the synthetic ones of --rows, the lines "key TAB value" of --input (values
/// may contain tabs), or, without either, LoadDpkg.
Input ReadInput(Job& job, uint64_t max_bytes);

/// File path -> package, from the lists of installed files that every Debian system keeps. A path
/// that several packages own, as they do most directories, is one row: that of the first package in
/// alphabetical order.
Input LoadDpkg(uint64_t max_bytes = UINT64_MAX);

/// `num_rows` rows: keys of 16 bytes and values of 100, all uniformly random.
Input MakeSynthetic(uint64_t num_rows, uint64_t seed, uint64_t max_bytes);

}  // namespace blocksieve::bench
