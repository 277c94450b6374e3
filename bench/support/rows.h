#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace blocksieve::bench {

/// The rows of a benchmark: distinct keys with their values, sorted by key, in contiguous memory.
/// Call order: Add*, Seal, then the rest.
class Rows {
 public:
  void Add(std::string_view key, std::string_view value);

  /// Sorts, and keeps the first of several rows with one key. Returns the number of rows dropped.
  size_t Seal();

  size_t size() const { return rows_.size(); }
  std::string_view key(size_t i) const;
  std::string_view value(size_t i) const;
  bool Contains(std::string_view key) const;

  /// Bytes of keys and values.
  uint64_t num_bytes() const { return num_bytes_; }

 private:
  struct Row {
    uint64_t offset;  // of the key; the value follows
    uint32_t key_size;
    uint32_t value_size;
  };

  std::string bytes_;
  std::vector<Row> rows_;
  uint64_t num_bytes_ = 0;
};

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
