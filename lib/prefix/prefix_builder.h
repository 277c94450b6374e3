#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blocksieve/bytes.h"
#include "lib/base/coding.h"
#include "lib/prefix/prefix_rule.h"

namespace blocksieve {

class PrefixChooser;

/// Options of a PrefixBuilder.
struct PrefixPartOptions {
  /// The rule, from ParsePrefixRule; empty: chosen from the keys (PrefixChooser).
  std::string rule;
  /// Hashes per prefix: the FPR of prefixes is that of the point filter to this power. 1 to
  /// kMaxPrefixLookups.
  unsigned num_lookups = 1;
  /// Hashes per prefix if that makes at most `max_cheap_hashes` per key, at least num_lookups. Few
  /// prefixes need little memory for a low FPR, and a seek wastes a read for each run that passes.
  unsigned num_lookups_if_cheap = 2;
  double max_cheap_hashes = 0.1;
  /// Whether the filter holds all keys of its file, not those of a partition.
  bool is_whole_file = true;
  /// Whether the point filter has the size that it would have without prefixes: prefixes then take
  /// bits from keys, for a budget of both.
  bool share_bits = false;
};

/// Finds the distinct prefixes of the keys of one file or partition. With keys in bytewise order, a
/// prefix is new where a key differs from the previous one; in another order, prefixes are found
/// more than once, which only takes memory. Call order: ( AddKey* FinishHashes Finish )*. Not
/// thread-safe, but may move between threads.
class PrefixBuilder {
 public:
  explicit PrefixBuilder(PrefixPartOptions options);
  PrefixBuilder(PrefixBuilder&&) noexcept;
  PrefixBuilder& operator=(PrefixBuilder&&) noexcept;
  ~PrefixBuilder();

  /// Whether AddKey would do nothing. Fast: most keys have the prefixes of the previous key.
  bool HasNothingNew(std::string_view key) const noexcept {
    const size_t size = last_prefix_.size();  // known to be the shorter one in SharedBytes
    return has_all_prefixes_ && size <= key.size() &&
           SharedBytes(key.substr(0, size), last_prefix_) == size;
  }

  /// Returns the hashes of new prefixes, to be added to the point filter; valid until the next
  /// call.
  std::span<const uint64_t> AddKey(std::string_view key);

  /// Returns the hashes that depend on all keys, like AddKey: of all prefixes if the rule is chosen
  /// now, and more of each prefix if that is cheap. `num_keys`: of the point filter.
  std::span<const uint64_t> FinishHashes(uint64_t num_keys);

  /// Returns the prefix part, and resets the builder. Empty if no key has a boundary, or a callback
  /// broke its contract.
  std::string Finish();

  /// Drops the keys added so far.
  void Reset() noexcept;

  /// Makes Finish return no part: memory was too short for some prefix.
  void GiveUp() noexcept { is_sound_ = false; }

  const PrefixPartOptions& options() const noexcept { return options_; }
  uint64_t num_prefixes() const noexcept { return num_prefixes_; }
  /// Hashes per prefix; final after FinishHashes.
  unsigned num_lookups() const noexcept { return num_lookups_; }
  uint64_t num_hashes() const noexcept { return num_prefixes_ * num_lookups_; }

  /// Whether the last key has a prefix.
  bool last_has_prefix() const noexcept { return !last_lengths_.empty(); }

 private:
  friend class PrefixChooser;

  PrefixPartOptions options_;
  size_t max_prefixes_;      // MaxPrefixesOf(options_.rule)
  std::string chosen_rule_;  // where options_.rule is empty
  std::unique_ptr<PrefixChooser> chooser_;
  std::string last_key_;     // of a partition
  std::string last_prefix_;  // the longest one of the last key
  internal::PrefixLengths last_lengths_;
  internal::PrefixLengths lengths_;
  std::vector<uint64_t> hashes_;  // options_.num_lookups of each prefix, then those of FinishHashes
  uint64_t num_prefixes_ = 0;
  unsigned num_lookups_;
  bool has_all_prefixes_ = false;  // no key that starts with last_prefix_ has others
  bool is_sound_ = true;
};

}  // namespace blocksieve
