// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "lib/bloom/blocked_bloom.h"

namespace blocksieve {
namespace internal {
namespace {

constexpr uint32_t kMaxModelProbes = 32;
constexpr uint64_t kLineBits = 8 * kLineBytes;

// Filters of up to this many lines are searched for an FPR above that of many lines. The excess
// falls as 1 / lines, and is largest where rounding loses no space: at the odd part of
// 16 * bits_per_key lines. It exists only below 3 bits per key, so at most at 45 lines.
constexpr uint64_t kMaxFewLines = 64;

// A term below this share of a sum does not change it.
constexpr double kNegligible = 1e-17;

/// The probe of an absent key while the filter's keys are added one by one: the probability
/// distribution of the number of its distinct positions that are still clear. Each position of a
/// key sets one of them with probability clear / num_bits. All terms are positive, so nothing
/// cancels; the equivalent alternating sum over subsets of positions is noise for lines of few
/// keys. The distribution of the number of bits set in the filter would take 512 states instead of
/// k.
class AbsentProbe {
 public:
  AbsentProbe(uint64_t num_bits, uint32_t num_probes) : num_probes_(num_probes) {
    assert(num_probes >= 1 && num_probes <= kMaxModelProbes);
    for (uint32_t i = 0; i <= num_probes; ++i) {
      hit_[i] = std::min(1.0, i / static_cast<double>(num_bits));
    }
    clear_[0] = 1;
    for (uint32_t thrown = 0; thrown < num_probes; ++thrown) {
      for (uint32_t i = thrown + 1; i > 0; --i) {
        clear_[i] = clear_[i] * hit_[i] + clear_[i - 1] * (1 - hit_[i - 1]);
      }
      clear_[0] = 0;
    }
  }

  void AddKey() noexcept {
    for (uint32_t position = 0; position < num_probes_; ++position) {
      for (uint32_t i = 0; i < num_probes_; ++i) {
        clear_[i] = clear_[i] * (1 - hit_[i]) + clear_[i + 1] * hit_[i + 1];
      }
      clear_[num_probes_] *= 1 - hit_[num_probes_];
    }
  }

  double passes() const noexcept { return clear_[0]; }

  /// Whether a probe practically always passes, and therefore after any further key.
  bool saturated() const noexcept {
    double fails = 0;
    for (uint32_t i = 1; i <= num_probes_; ++i) fails += clear_[i];
    return fails < kNegligible;
  }

 private:
  uint32_t num_probes_;
  std::array<double, kMaxModelProbes + 1> hit_{};    // [i]: a position is one of i given ones
  std::array<double, kMaxModelProbes + 1> clear_{};  // [i]: i of the probe's positions are clear
};

/// The mean FPR of a line over the number of its keys, which is 0 with probability exp(log_weight),
/// and L + 1 with ratio(L) times the probability of L. The ratio falls with L.
template <class Ratio>
double MeanOverLines(uint32_t num_probes, double log_weight, Ratio ratio) noexcept {
  AbsentProbe line(kLineBits, num_probes);
  double mean = 0;
  double total_weight = 0;
  for (uint64_t keys = 0; !line.saturated(); ++keys) {
    const double weight = std::exp(log_weight);
    mean += weight * line.passes();
    total_weight += weight;
    const double next = ratio(static_cast<double>(keys));
    // All later weights together are below a geometric series, and no FPR is above 1.
    if (next < 1 && weight * next / (1 - next) <= kNegligible * mean) return mean;
    log_weight += std::log(next);  // a logarithm, because the first weights may be below DBL_MIN
    line.AddKey();
  }
  return mean + std::max(0.0, 1 - total_weight);
}

}  // namespace

double BloomFprForKeys(uint64_t num_bits, uint64_t num_keys, uint32_t num_probes) noexcept {
  assert(num_bits >= 1);
  AbsentProbe probe(num_bits, num_probes);
  for (uint64_t key = 0; key < num_keys; ++key) probe.AddKey();
  return probe.passes();
}

double BlockedBloomFprForKeys(uint64_t num_lines, uint64_t num_keys, uint32_t num_probes) noexcept {
  assert(num_lines >= 1);
  if (num_lines == 1) return BloomFprForKeys(kLineBits, num_keys, num_probes);
  const double n = static_cast<double>(num_keys);
  const double lines = static_cast<double>(num_lines);
  return MeanOverLines(num_probes, n * std::log1p(-1 / lines), [=](double keys) {
    return std::max(0.0, n - keys) / (keys + 1) / (lines - 1);
  });
}

Layout BestLayout(double bits_per_key) noexcept {
  Layout best{.kind = FilterKind::kBlockedBloom, .bits_per_key = bits_per_key};
  for (uint32_t k = 1; k <= kMaxLineProbes; ++k) {
    const double fpr = BlockedBloomFpr(bits_per_key, k);
    if (best.num_probes == 0 || fpr < best.predicted_fpr) {
      best.num_probes = k;
      best.predicted_fpr = fpr;
    }
  }
  for (uint64_t lines = 1; lines <= kMaxFewLines; ++lines) {
    const auto keys = static_cast<uint64_t>(static_cast<double>(kLineBits * lines) / bits_per_key);
    const double fpr = BlockedBloomFprForKeys(lines, keys, best.num_probes);
    best.predicted_fpr = std::max(best.predicted_fpr, fpr);
  }
  return best;
}

}  // namespace internal

double BlockedBloomFpr(double bits_per_key, uint32_t num_probes) noexcept {
  assert(bits_per_key > 0);
  const double keys_per_line = static_cast<double>(internal::kLineBits) / bits_per_key;
  return internal::MeanOverLines(num_probes, -keys_per_line,
                                 [=](double keys) { return keys_per_line / (keys + 1); });
}

}  // namespace blocksieve
