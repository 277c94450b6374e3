#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>

#include "bench/support/rows.h"

namespace blocksieve::bench {

/// Fewest different keys that make a tree of several levels worth measuring.
inline constexpr uint64_t kMinRows = 1'000;
/// Most rows; row numbers are kept in 32 bits.
inline constexpr uint64_t kMaxRows = 1'000'000'000;

/// How much to read at most. Reading stops, and says so in the description, when either is reached.
struct InputLimits {
  uint64_t max_rows = kMaxRows;
  uint64_t max_bytes = UINT64_MAX;
};

/// What a run fills its databases with.
struct Input {
  Rows rows;
  std::string description;  ///< One sentence for the report: where from, which keys and values.
};

/// Where every Debian system keeps the file lists of its installed packages.
inline constexpr const char* kDpkgInfoDir = "/var/lib/dpkg/info";

/// File path -> package, from the *.list files in `dir`. A path that several packages own, as most
/// directories are, is one row: that of the first package in alphabetical order.
/// Throws Failure if that gives fewer than kMinRows rows, as do the others.
Input LoadDpkg(const std::filesystem::path& dir, const InputLimits& limits);

/// Lines of key TAB value from the file `name`, or from standard input if it is "-". A value may
/// contain tabs. Of several lines with one key the first counts.
Input LoadTsv(const std::string& name, const InputLimits& limits);

/// The rows of --input: LoadTsv, or LoadDpkg of this machine if `name` is empty.
Input LoadInput(const std::string& name, const InputLimits& limits);

/// The same as LoadTsv from an open stream; `name` is for messages.
Input ParseTsv(std::istream& stream, const std::string& name, const InputLimits& limits);

/// `num_rows` rows: keys of 16 bytes and values of `value_bytes` bytes, all uniformly random.
Input MakeSynthetic(uint64_t num_rows, uint64_t value_bytes, uint64_t seed,
                    const InputLimits& limits);

}  // namespace blocksieve::bench
