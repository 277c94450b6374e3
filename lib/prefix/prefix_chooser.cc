// SPDX-License-Identifier: Apache-2.0
#include "lib/prefix/prefix_chooser.h"

#include <algorithm>
#include <bit>

namespace blocksieve {
namespace {

constexpr double kMinCoverage = 0.9;
// While keys are added: prefixes of sorted keys come in bursts, so the share of all is not known
// yet, and many times more are forgiven.
constexpr double kForgiven = 4;
constexpr double kForgivenPrefixes = 64;
constexpr uint64_t kFirstCheck = 128;
constexpr uint64_t kKeysBetweenChecks = 1024;

// As a big-endian number; bytes beyond the eighth do not count.
uint64_t ReadBigEndian(std::string_view key, size_t length) {
  uint64_t number = 0;
  for (size_t i = 0; i < std::min<size_t>(length, 8); ++i) {
    number = number << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
  }
  return number;
}

}  // namespace

PrefixChooser::PrefixChooser(const FilterOptions& options, double max_delimited) {
  constexpr std::string_view kDelimiters[] = {"/", "%3A", "|", "%23", "%00", ".", "-", "_", "%2C"};
  constexpr size_t kLengths[] = {4, 8, 16};
  const auto add = [&](const std::string& text, size_t length) {
    FilterOptions of_candidate = options;
    of_candidate.prefixes = text;
    of_candidate.is_partition = false;  // candidates need no last key
    candidates_.push_back({*PrefixBuilder::Create(of_candidate),
                           length == 0 ? max_delimited : kMaxPrefixesPerKey, length});
  };
  for (const std::string_view delimiter : kDelimiters)
    add("delimiter:" + std::string(delimiter), 0);
  for (const size_t length : kLengths) add("lengths:" + std::to_string(length), length);
}

bool PrefixChooser::AddKey(std::string_view key) {
  if (candidates_.empty()) return false;
  if (num_keys_ == 0) first_key_ = key;
  last_key_ = key;
  for (Candidate& candidate : candidates_) {
    candidate.prefixes.AddKey(key);
    candidate.num_keys += candidate.prefixes.last_has_prefix() ? 1 : 0;
  }
  ++num_keys_;
  const bool is_early_check = num_keys_ >= kFirstCheck && std::has_single_bit(num_keys_);
  if (is_early_check || num_keys_ % kKeysBetweenChecks == 0) {
    DropExpensive(kForgiven, kForgivenPrefixes);
  }
  return !candidates_.empty();
}

void PrefixChooser::DropExpensive(double forgiven, double forgiven_prefixes) {
  const auto keys = static_cast<double>(num_keys_);
  std::erase_if(candidates_, [&](const Candidate& candidate) {
    const double max_prefixes =
        std::max(forgiven * candidate.max_prefixes_per_key * keys, forgiven_prefixes);
    return static_cast<double>(candidate.prefixes.num_prefixes()) > max_prefixes ||
           static_cast<double>(candidate.num_keys) < kMinCoverage * keys;
  });
}

bool PrefixChooser::HasGaps(const Candidate& candidate) const {
  if (candidate.length == 0 || candidate.length > 8) return true;
  const uint64_t span =
      ReadBigEndian(last_key_, candidate.length) - ReadBigEndian(first_key_, candidate.length);
  return candidate.prefixes.num_prefixes() / 2 < span / 4;
}

PrefixBuilder* PrefixChooser::Choose() {
  DropExpensive(1, 0);
  Candidate* best = nullptr;
  for (Candidate& candidate : candidates_) {
    const uint64_t prefixes = candidate.prefixes.num_prefixes();
    if (prefixes < 2 || !HasGaps(candidate)) continue;
    // Programs seek below delimiters; a length is the guess where there are none.
    if (best != nullptr && best->length == 0 && candidate.length != 0) break;
    if (best == nullptr || prefixes > best->prefixes.num_prefixes()) best = &candidate;
  }
  return best == nullptr ? nullptr : &best->prefixes;
}

}  // namespace blocksieve
