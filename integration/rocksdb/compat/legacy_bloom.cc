#include "integration/rocksdb/compat/legacy_bloom.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace blocksieve::rocksdb_plugin {
namespace {

// The positions of a key in its line are p, p + d, p + 2d, ..., with p and d from the same 32-bit
// hash. Two keys share positions more often than with independent ones (rocksdb#4120). An absent
// key passes if no position is clear. By inclusion and exclusion over sets S of its positions,
//
//   FPR = mean over d of the sum over S of (-1)^|S| P(all keys of the line leave S clear)
//
// Keys of a line are binomially distributed. Shifting all p, or multiplying all p and d by an odd
// number, changes nothing. So d = 1, 2, 4, ..., 0 represent all d with as many factors of two.

// The sets double with each probe. Filters with more probes have the rate of as many bits per
// probe: most false positives then come from d with few distinct positions.
constexpr uint32_t kMaxProbes = 14;

double Ratio(uint64_t part, uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

/// The sets that a key leaves clear with probability `clear`; `weight` is the sum of their signs.
struct Term {
  double clear = 0;
  double weight = 0;
};

/// Adds the sets of positions of an absent key with step `d`, by the pairs (p, d) of other keys
/// that leave them clear. `share`: that of such absent keys.
void AddTerms(uint64_t line_bits, uint32_t num_probes, uint64_t d, double share,
              std::map<uint64_t, double>* weights) {
  const uint64_t distinct = d == 0 ? 1 : line_bits / d;
  const auto followed = static_cast<uint32_t>(std::min<uint64_t>(num_probes, distinct));
  // By set of positions: the number of pairs (p, d) of another key that set these and no others.
  std::vector<uint64_t> keys(size_t{1} << followed);
  std::vector<uint32_t> set_by(line_bits);
  for (uint64_t other = 0; other < line_bits; ++other) {
    std::fill(set_by.begin(), set_by.end(), 0);
    for (uint32_t i = 0; i < followed; ++i) {
      for (uint32_t probe = 0; probe < num_probes; ++probe) {
        set_by[(i * d - probe * other) % line_bits] |= 1u << i;
      }
    }
    for (const uint32_t set : set_by) ++keys[set];
  }
  // Sums over subsets: the pairs that set no position outside of the set.
  for (uint32_t i = 0; i < followed; ++i) {
    for (size_t set = 0; set < keys.size(); ++set) {
      if ((set >> i & 1) != 0) keys[set] += keys[set ^ (size_t{1} << i)];
    }
  }
  for (size_t set = 0; set < keys.size(); ++set) {
    const bool is_odd = std::popcount(keys.size() - 1 - set) % 2 == 1;
    (*weights)[keys[set]] += is_odd ? -share : share;
  }
}

const std::vector<Term>& TermsOf(uint64_t line_bits, uint32_t num_probes) {
  static auto& mutex = *new std::mutex;
  static auto& known = *new std::map<std::pair<uint64_t, uint32_t>, std::vector<Term>>;
  const std::lock_guard lock(mutex);
  std::vector<Term>& terms = known[{line_bits, num_probes}];
  if (!terms.empty()) return terms;
  std::map<uint64_t, double> weights;
  double rest = 1;
  for (uint64_t d = 1; d < line_bits; d *= 2) {
    AddTerms(line_bits, num_probes, d, rest /= 2, &weights);
  }
  AddTerms(line_bits, num_probes, 0, rest, &weights);
  for (const auto& [pairs, weight] : weights) {
    terms.push_back({Ratio(pairs, line_bits * line_bits), weight});
  }
  return terms;
}

// The number of hashes with the line, p and d of a given one, beyond the mean that the terms
// assume. In large filters it is far from the mean, because the line is the hash modulo the number
// of lines. Hashes of the same line and p differ by a multiple of line_bits * num_lines. They have
// the same d, which starts at bit 17, unless the difference carries into it.
double ExcessOfSameHashes(const LegacyBloom& filter) {
  constexpr uint64_t kMinLines = 256;  // fewer lines have very many such hashes, near the mean
  if (filter.num_lines < kMinLines) return 0;
  constexpr uint64_t kHashes = uint64_t{1} << 32;
  constexpr uint64_t kCarry = 1 << 17;
  const uint64_t step = filter.line_bits * filter.num_lines;
  const uint64_t cycle = filter.line_bits * kCarry;
  double sum = 1;  // the given hash itself
  for (uint64_t difference = step; difference < kHashes; difference += step) {
    const uint64_t rest = difference % cycle;
    const uint64_t distance = std::min(rest, cycle - rest);
    if (distance >= kCarry) continue;
    sum += 2 * (1 - Ratio(distance, kCarry)) * (1 - Ratio(difference, kHashes));
  }
  return std::max(0.0, sum - Ratio(kHashes, step * filter.line_bits));
}

}  // namespace

double LegacyBloomFpr(const LegacyBloom& filter, double num_keys) {
  const auto num_lines = static_cast<double>(filter.num_lines);
  const uint32_t num_probes = std::min(filter.num_probes, kMaxProbes);
  const double modeled_keys = num_keys * filter.num_probes / num_probes;
  double fpr = 0;
  for (const Term& term : TermsOf(filter.line_bits, num_probes)) {
    fpr += term.weight * std::pow(1 - (1 - term.clear) / num_lines, modeled_keys);
  }
  const double same_hashes = num_keys * ExcessOfSameHashes(filter) * std::exp2(-32);
  return std::clamp(fpr + (1 - fpr) * -std::expm1(-same_hashes), 0.0, 1.0);
}

}  // namespace blocksieve::rocksdb_plugin
