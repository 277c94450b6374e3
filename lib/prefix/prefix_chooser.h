#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/prefix/prefix_builder.h"

namespace blocksieve {

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
