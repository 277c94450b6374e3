#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace blocksieve::bench {

/// The rows of a run: different keys with their values, sorted by key, in one piece of memory.
///
/// Call order: Add*, Seal, then the rest.
class Rows {
 public:
  void Add(std::string_view key, std::string_view value);

  /// Sorts. Of several rows with one key the first that was added stays. Returns how many rows that
  /// dropped.
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

/// Row numbers 0, 1, ... in this order, or shuffled.
std::vector<uint32_t> KeyOrder(size_t num_rows);
std::vector<uint32_t> RandomOrder(size_t num_rows, uint64_t seed);

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
