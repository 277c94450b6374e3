// SPDX-License-Identifier: Apache-2.0
#include "lib/prefix/prefix_builder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/base/errors.h"
#include "lib/prefix/prefix_chooser.h"
#include "lib/prefix/prefix_section.h"

namespace blocksieve {
namespace {

// The hashes that bring the FPR of prefixes down to `fpr`.
unsigned NumLookups(double fpr, double target_fpr) noexcept {
  constexpr double kRounding = 1e-9;
  const double hashes = std::ceil(std::log(fpr) / std::log(target_fpr) - kRounding);
  return static_cast<unsigned>(std::clamp<double>(hashes, 1, internal::kMaxPrefixLookups));
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

}  // namespace blocksieve
