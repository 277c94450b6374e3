#pragma once  // SPDX-License-Identifier: Apache-2.0

#include "bench/support/job.h"

namespace blocksieve::bench {

/// The rows of a benchmark: distinct keys with their values, sorted by key. Call order: Add*, Seal,
/// then the rest.
class Rows {
 public:
  void Add(std::string_view key, std::string_view value) {
    rows_.emplace_back(key, value);
    num_bytes_ += key.size() + value.size();
  }

  /// Sorts, and keeps the first of several rows with one key. Returns the number of rows dropped.
  size_t Seal();

  size_t size() const { return rows_.size(); }
  std::string_view key(size_t i) const { return rows_[i].first; }
  std::string_view value(size_t i) const { return rows_[i].second; }
  bool Contains(std::string_view key) const;

  /// Bytes of keys and values.
  uint64_t num_bytes() const { return num_bytes_; }

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
  uint64_t num_bytes_ = 0;
};

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

/// Row numbers 0, 1, ... in order, or shuffled.
std::vector<uint32_t> KeyOrder(size_t num_rows);
std::vector<uint32_t> RandomOrder(size_t num_rows, uint64_t seed);

/// The keys that one round looks up, the same for every contestant.
struct LookupKeys {
  std::vector<uint32_t> present;    ///< Row numbers, uniformly random, with repetition.
  std::vector<std::string> absent;  ///< Keys that `rows` does not have.
};

/// Draws `count` present and `count` absent keys. An absent key is a present one with a byte of its
/// second half replaced by one from the second half of another key. So it lies among the present
/// keys and looks like them: neither the key ranges of files nor a filter that merely tells random
/// bytes from real keys can reject it. Throws Failure if the keys are too dense to find absent
/// ones.
LookupKeys DrawLookupKeys(const Rows& rows, uint64_t count, uint64_t seed);

}  // namespace blocksieve::bench
