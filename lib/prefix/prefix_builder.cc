// SPDX-License-Identifier: Apache-2.0
#include "lib/prefix/prefix_builder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "lib/base/errors.h"
#include "lib/prefix/prefix_section.h"

namespace blocksieve {
namespace {

// The hashes that bring the FPR of prefixes down to `fpr`.
unsigned NumLookups(double fpr, double target_fpr) noexcept {
  constexpr double kRounding = 1e-9;
  const double hashes = std::ceil(std::log(fpr) / std::log(target_fpr) - kRounding);
  return static_cast<unsigned>(std::clamp<double>(hashes, 1, internal::kMaxPrefixLookups));
}

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

Result<PrefixBuilder> PrefixBuilder::Create(const FilterOptions& options) {
  if (options.prefixes == "auto") return PrefixBuilder(options, "");
  BLOCKSIEVE_ASSIGN_OR_RETURN(std::string rule, internal::ParsePrefixRule(options.prefixes));
  return PrefixBuilder(options, std::move(rule));
}

PrefixBuilder::PrefixBuilder(const FilterOptions& options, std::string rule)
    : options_(options),
      rule_(std::move(rule)),
      max_prefixes_(rule_.empty() ? 0 : internal::MaxPrefixes(AsBytes(rule_))),
      min_lookups_(NumLookups(options.prefix_fpr, options.target_fpr)),
      max_lookups_(NumLookups(options.few_prefixes_fpr, options.target_fpr)),
      num_first_(options.prefixes_share_bits ? 1 : min_lookups_),
      num_lookups_(num_first_),
      has_delimiter_(internal::IsOneByteDelimiter(AsBytes(rule_)) && !options.is_partition) {}
PrefixBuilder::PrefixBuilder(PrefixBuilder&&) noexcept = default;
PrefixBuilder& PrefixBuilder::operator=(PrefixBuilder&&) noexcept = default;
PrefixBuilder::~PrefixBuilder() = default;

std::span<const uint64_t> PrefixBuilder::AddKey(std::string_view key) {
  if (!is_sound_) {
    Reset();  // not in GiveUp, whose caller may read the last hashes
    GiveUp();
    return {};
  }
  if (options_.is_partition) last_key_.assign(key);
  const ByteView rule = AsBytes(rule_);
  if (rule.empty()) {
    if (chooser_ == nullptr) chooser_ = std::make_unique<PrefixChooser>(options_);
    // Nothing is new from now on if the chooser has no candidates left.
    has_all_prefixes_ = !chooser_->AddKey(key) && !options_.is_partition;
    return {};
  }
  const size_t shared = SharedBytes(key, last_prefix_);
  if (shared == last_prefix_.size() &&
      internal::HasNoMorePrefixes(rule, max_prefixes_, last_lengths_, key)) {
    return {};
  }
  last_lengths_.Truncate(shared);
  const size_t num_seen = last_lengths_.all().size();
  internal::FindMorePrefixes(rule, key, &last_lengths_);
  const size_t num_before = hashes_.size();
  for (const uint32_t length : last_lengths_.all().subspan(num_seen)) {
    hashes_.push_back(internal::HashPrefix(key.substr(0, length)));
    for (unsigned i = 1; i < num_first_; ++i) {
      hashes_.push_back(internal::NextPrefixHash(hashes_.back()));
    }
    ++num_prefixes_;
  }
  last_prefix_.assign(key.substr(0, last_lengths_.longest()));
  has_all_prefixes_ = last_lengths_.all().size() == max_prefixes_ && !options_.is_partition;
  return std::span(hashes_).subspan(options_.prefixes_share_bits ? hashes_.size() : num_before);
}

unsigned PrefixBuilder::WantedLookups(uint64_t num_keys) {
  if (chooser_ != nullptr) {
    if (PrefixBuilder* const chosen = chooser_->Choose()) {
      chosen_rule_ = chosen->rule_;
      hashes_ = std::move(chosen->hashes_);
      num_prefixes_ = chosen->num_prefixes_;
    }
  }
  const double max_hashes =
      chooser_ == nullptr ? options_.max_few_prefixes : PrefixChooser::kMaxPrefixesPerKey;
  const bool are_few = static_cast<double>(num_prefixes_ * max_lookups_) <=
                       max_hashes * static_cast<double>(num_keys);
  return are_few ? std::max(min_lookups_, max_lookups_) : min_lookups_;
}

std::span<const uint64_t> PrefixBuilder::FinishHashes(unsigned num_lookups) {
  if (!is_sound_) return {};
  const size_t num_first = hashes_.size();
  for (size_t last = num_first_; last <= num_first; last += num_first_) {
    uint64_t hash = hashes_[last - 1];
    for (unsigned i = num_first_; i < num_lookups; ++i) {
      hashes_.push_back(hash = internal::NextPrefixHash(hash));
    }
  }
  num_lookups_ = num_lookups;
  const bool returns_all = chooser_ != nullptr || options_.prefixes_share_bits;
  return std::span(hashes_).subspan(returns_all ? 0 : num_first);
}

std::string PrefixBuilder::Finish() {
  std::string part;
  if (is_sound_ && num_prefixes_ != 0) {
    const std::string& rule = rule_.empty() ? chosen_rule_ : rule_;
    internal::AppendPrefixSection(rule, num_prefixes_, num_lookups_,
                                  options_.is_partition ? &last_key_ : nullptr, &part);
  }
  Reset();
  return part;
}

uint64_t PrefixBuilder::memory_bytes() const noexcept {
  const uint64_t growing = 3 * hashes_.capacity() * sizeof(uint64_t);
  return growing + (chooser_ == nullptr ? 0 : chooser_->memory_bytes());
}

void PrefixBuilder::Reset() noexcept {
  chooser_.reset();
  last_key_.clear();
  last_prefix_.clear();
  last_lengths_.Clear();
  hashes_ = {};
  num_prefixes_ = 0;
  num_lookups_ = num_first_;
  has_all_prefixes_ = false;
  is_sound_ = true;
}

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
