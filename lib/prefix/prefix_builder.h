#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/bytes.h"
#include "blocksieve/filter.h"
#include "blocksieve/status.h"
#include "lib/base/coding.h"
#include "lib/prefix/prefix_rule.h"

namespace blocksieve {

class PrefixChooser;

/// Finds the distinct prefixes of the keys of one file or partition. With keys in bytewise order, a
/// prefix is new where a key differs from the previous one; in another order, prefixes are found
/// more than once, which only takes memory. Call order:
/// ( AddKey* WantedLookups FinishHashes Finish )*. Not thread-safe, but may move between threads.
class PrefixBuilder {
 public:
  /// Reads `prefixes` ("auto": the rule is chosen from the keys), its FPRs and limits, and whether
  /// the filter is a partition's. Errors: InvalidArgument, naming the option and what is allowed.
  static Result<PrefixBuilder> Create(const FilterOptions& options);

  PrefixBuilder(PrefixBuilder&&) noexcept;
  PrefixBuilder& operator=(PrefixBuilder&&) noexcept;
  ~PrefixBuilder();

  /// Whether AddKey would do nothing. Fast: most keys have the prefixes of the previous key.
  bool HasNothingNew(std::string_view key) const noexcept {
    const size_t size = last_prefix_.size();  // known to be the shorter one in SharedBytes
    return has_all_prefixes_ && size <= key.size() &&
           SharedBytes(key.substr(0, size), last_prefix_) == size;
  }

  /// The same if the rule is a delimiter of one byte.
  bool HasNoNewDelimiter(std::string_view key) const noexcept {
    return has_delimiter_ && key.starts_with(last_prefix_) &&
           key.find(rule_[2], last_prefix_.size()) == std::string_view::npos;
  }

  /// Returns the hashes of new prefixes, to be added to the point filter; valid until the next
  /// call. None with prefixes_share_bits, where their number depends on all keys.
  std::span<const uint64_t> AddKey(std::string_view key);

  /// Chooses the rule if it depends on the keys. Returns how many hashes each prefix should have:
  /// more if prefixes are few. `num_keys`: of the point filter, without prefixes.
  unsigned WantedLookups(uint64_t num_keys);

  /// Gives each prefix this many hashes, at least those of AddKey, and returns all that AddKey did
  /// not return.
  std::span<const uint64_t> FinishHashes(unsigned num_lookups);

  /// Returns the prefix part, and resets the builder. Empty if no key has a boundary.
  std::string Finish();

  /// Drops the keys added so far.
  void Reset() noexcept;

  /// Makes Finish return no part: memory was too short for some prefix. The next AddKey frees it.
  void GiveUp() noexcept { is_sound_ = has_all_prefixes_ = false; }
  bool is_sound() const noexcept { return is_sound_; }  ///< False after GiveUp, until Reset.
  uint64_t memory_bytes() const noexcept;               ///< While the list of hashes grows.

  /// The rule of ParsePrefixRule; empty: to be chosen.
  const std::string& rule() const noexcept { return rule_; }
  uint64_t num_prefixes() const noexcept { return num_prefixes_; }
  /// Hashes that AddKey has returned.
  uint64_t num_added() const noexcept {
    return options_.prefixes_share_bits ? 0 : num_prefixes_ * min_lookups_;
  }

  /// Whether the last key has a prefix.
  bool last_has_prefix() const noexcept { return !last_lengths_.empty(); }

 private:
  friend class PrefixChooser;

  PrefixBuilder(const FilterOptions& options, std::string rule);

  FilterOptions options_;
  std::string rule_;
  std::string chosen_rule_;  // where rule_ is empty
  size_t max_prefixes_;      // MaxPrefixes(rule_)
  // Hashes per prefix: the FPR of prefixes is that of the point filter to this power; and where
  // prefixes are few.
  unsigned min_lookups_;
  unsigned max_lookups_;
  std::unique_ptr<PrefixChooser> chooser_;
  std::string last_key_;     // of a partition
  std::string last_prefix_;  // the longest one of the last key
  internal::PrefixLengths last_lengths_;
  std::vector<uint64_t> hashes_;  // num_first_ of each prefix, then those of FinishHashes
  uint64_t num_prefixes_ = 0;
  unsigned num_first_;             // hashes per prefix before FinishHashes
  unsigned num_lookups_;           // and after it
  bool has_delimiter_;             // of one byte, and no partition's last key is needed
  bool has_all_prefixes_ = false;  // no key that starts with last_prefix_ has others
  bool is_sound_ = true;
};

/// Chooses a rule from the keys of a file: of some delimiters or else of some lengths, the one with
/// the most distinct prefixes
///   - that have a boundary in at least nine of ten keys,
///   - that are at most kMaxPrefixesPerKey, 0.3 bits per key at ten bits each; for delimiters
///     another maximum can be set,
///   - and that leave gaps: at most half of the values between the first prefix and the last occur.
/// Random keys have no such rule. A candidate that has become too expensive is dropped early, so
/// that most cost nothing after a few thousand keys.
class PrefixChooser {
 public:
  static constexpr double kMaxPrefixesPerKey = 0.03;

  /// `options` of the builders of all candidates, besides the rule.
  explicit PrefixChooser(const FilterOptions& options, double max_delimited = kMaxPrefixesPerKey);

  /// False if no candidate is left.
  bool AddKey(std::string_view key);

  uint64_t memory_bytes() const noexcept {
    uint64_t bytes = 0;
    for (const Candidate& candidate : candidates_) bytes += candidate.prefixes.memory_bytes();
    return bytes;
  }

  /// The builder of the chosen rule, valid as long as the chooser; null if none pays.
  PrefixBuilder* Choose();

 private:
  struct Candidate {
    PrefixBuilder prefixes;
    double max_prefixes_per_key;
    size_t length = 0;      // of the prefixes of a rule by length; 0 for delimiters
    uint64_t num_keys = 0;  // with a boundary
  };

  bool HasGaps(const Candidate& candidate) const;
  void DropExpensive(double forgiven, double forgiven_prefixes);

  std::vector<Candidate> candidates_;
  std::string first_key_;
  std::string last_key_;
  uint64_t num_keys_ = 0;
};

}  // namespace blocksieve
