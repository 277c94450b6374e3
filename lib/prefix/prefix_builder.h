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

/// What a PrefixBuilder is to build.
struct PrefixPartOptions {
  /// The rule, from ParsePrefixRule; empty: the builder chooses one from the keys (PrefixChooser).
  std::string rule;
  /// Hashes per prefix: the false-positive rate of prefixes is that of the filter for points to
  /// this power. 1 to PrefixPart::kMaxLookups.
  unsigned num_lookups = 1;
  /// Whether the filter has all keys of its file, not those of a partition.
  bool is_whole_file = true;
  /// FilterOptions::hash_seed of the filter for points.
  uint64_t hash_seed = 0;
};

/// Finds the distinct prefixes of the keys of one file or partition. Keys come in bytewise order,
/// so a prefix is new where the key differs from the one before it; in any other order it is found
/// more than once, which takes memory and nothing else. May be used again after Finish. Not
/// thread-safe, but may move between threads.
class PrefixBuilder {
 public:
  explicit PrefixBuilder(PrefixPartOptions options);
  PrefixBuilder(PrefixBuilder&&) noexcept;
  PrefixBuilder& operator=(PrefixBuilder&&) noexcept;
  ~PrefixBuilder();

  /// Returns the hashes to add to the filter for points; valid until the next call.
  std::span<const uint64_t> AddKey(std::string_view key);

  /// Ends the keys. Where no rule was given, chooses one and returns the hashes to add to the
  /// filter for points, valid until the next call; otherwise nothing.
  std::span<const uint64_t> ChooseRule();

  /// Returns the part of the filter block; empty if there is none: no keys, none with a boundary,
  /// or a callback that broke its contract. The builder starts anew.
  std::string Finish();

  /// Drops the keys added so far.
  void Reset() noexcept;

  /// Makes no part of the current keys, for which memory is short.
  void GiveUp() noexcept { is_sound_ = false; }

  uint64_t num_prefixes() const noexcept { return num_prefixes_; }

  /// Whether the last key has a prefix.
  bool last_has_prefix() const noexcept { return !last_lengths_.empty(); }

 private:
  PrefixPartOptions options_;
  std::string chosen_rule_;  // where options_.rule is empty
  std::unique_ptr<PrefixChooser> chooser_;
  std::string last_key_;
  internal::PrefixLengths last_lengths_;
  internal::PrefixLengths lengths_;
  std::vector<uint64_t> hashes_;
  uint64_t num_prefixes_ = 0;
  bool is_sound_ = true;
};

}  // namespace blocksieve
