#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/bytes.h"
#include "lib/prefix/prefix_rule.h"

namespace blocksieve {

class PrefixChooser;

/// Options of a PrefixBuilder.
struct PrefixPartOptions {
  /// The rule, from ParsePrefixRule; empty: chosen from the keys (PrefixChooser).
  std::string rule;
  /// Hashes per prefix: the FPR of prefixes is that of the point filter to this power. 1 to
  /// PrefixPart::kMaxLookups.
  unsigned num_lookups = 1;
  /// Whether the filter holds all keys of its file, not those of a partition.
  bool is_whole_file = true;
  /// Whether the point filter has the size that it would have without prefixes: prefixes then take
  /// bits from keys, for a budget of both.
  bool share_bits = false;
  /// FilterOptions::hash_seed of the point filter.
  uint64_t hash_seed = 0;
};

/// Finds the distinct prefixes of the keys of one file or partition. With keys in bytewise order, a
/// prefix is new where a key differs from the previous one; in another order, prefixes are found
/// more than once, which only takes memory. Reusable after Finish. Not thread-safe, but may move
/// between threads.
class PrefixBuilder {
 public:
  explicit PrefixBuilder(PrefixPartOptions options);
  PrefixBuilder(PrefixBuilder&&) noexcept;
  PrefixBuilder& operator=(PrefixBuilder&&) noexcept;
  ~PrefixBuilder();

  /// Returns the hashes of new prefixes, to be added to the point filter; valid until the next
  /// call.
  std::span<const uint64_t> AddKey(std::string_view key);

  /// Without a given rule, chooses one after the last key and returns the hashes of all prefixes,
  /// like AddKey. Otherwise returns nothing.
  std::span<const uint64_t> ChooseRule();

  /// Returns the prefix part, and resets the builder. Empty if no key has a boundary, or a callback
  /// broke its contract.
  std::string Finish();

  /// Drops the keys added so far.
  void Reset() noexcept;

  /// Makes Finish return no part: memory was too short for some prefix.
  void GiveUp() noexcept { is_sound_ = false; }

  uint64_t num_prefixes() const noexcept { return num_prefixes_; }
  const PrefixPartOptions& options() const noexcept { return options_; }

  /// Whether the last key has a prefix.
  bool last_has_prefix() const noexcept { return !last_lengths_.empty(); }

 private:
  // Finds the prefixes of a key that shares `shared` bytes with last_prefix_.
  std::span<const uint64_t> AddNewPrefixes(std::string_view key, size_t shared);

  PrefixPartOptions options_;
  size_t max_prefixes_;      // MaxPrefixesOf(options_.rule)
  std::string chosen_rule_;  // where options_.rule is empty
  std::unique_ptr<PrefixChooser> chooser_;
  std::string last_key_;     // of a partition
  std::string last_prefix_;  // the longest one of the last key
  internal::PrefixLengths last_lengths_;
  internal::PrefixLengths lengths_;
  std::vector<uint64_t> hashes_;
  uint64_t num_prefixes_ = 0;
  bool is_sound_ = true;
};

}  // namespace blocksieve
