#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>

#include "bench/support/job.h"
#include "bench/support/rows.h"

namespace blocksieve::bench {

/// The fewest distinct keys that make a tree of several levels worth measuring.
inline constexpr uint64_t kMinRows = 1'000;
/// The most rows: row numbers have 32 bits.
inline constexpr uint64_t kMaxRows = 1'000'000'000;

/// The directory in which every Debian system keeps the file lists of installed packages.
inline constexpr const char* kDpkgInfo = "/var/lib/dpkg/info";

/// The rows that a run fills its databases with.
struct Input {
  Rows rows;
  std::string description;  ///< One sentence for the report: source, keys and values.
};

// All throw Failure if the result has fewer than kMinRows rows. Reading stops at `max_bytes` of
// keys and values, and the description says so. If several rows have one key, the first one counts.

/// The rows of --input: lines "key TAB value" from the file `name`, or from standard input if it is
/// "-"; if `name` is empty, LoadDpkg of this machine. A value may contain tabs.
Input LoadInput(const std::string& name, uint64_t max_bytes);

/// The rows of a job: the synthetic ones of --rows, or those of --input.
Input ReadInput(Job& job, uint64_t max_bytes);

/// The rows of an open stream. `name` is for error messages.
Input ParseTsv(std::istream& stream, const std::string& name, uint64_t max_bytes);

/// File path -> package, from the *.list files in `dir`. A path that several packages own, as they
/// do most directories, is one row: that of the first package in alphabetical order.
Input LoadDpkg(const std::filesystem::path& dir = kDpkgInfo, uint64_t max_bytes = UINT64_MAX);

/// `num_rows` rows: keys of 16 bytes and values of 100, all uniformly random.
Input MakeSynthetic(uint64_t num_rows, uint64_t seed, uint64_t max_bytes);

}  // namespace blocksieve::bench
