#include "lib/prefix/prefix_builder.h"

#include <algorithm>
#include <utility>

#include "lib/prefix/prefix_chooser.h"
#include "lib/prefix/prefix_part.h"

namespace blocksieve {

PrefixBuilder::PrefixBuilder(PrefixPartOptions options) : options_(std::move(options)) {}
PrefixBuilder::PrefixBuilder(PrefixBuilder&&) noexcept = default;
PrefixBuilder& PrefixBuilder::operator=(PrefixBuilder&&) noexcept = default;
PrefixBuilder::~PrefixBuilder() = default;

std::span<const uint64_t> PrefixBuilder::AddKey(std::string_view key) {
  hashes_.clear();
  if (!is_sound_) return {};
  if (options_.rule.empty()) {
    if (chooser_ == nullptr) {
      chooser_ = std::make_unique<PrefixChooser>(options_.num_lookups, options_.hash_seed);
    }
    chooser_->AddKey(key);
    last_key_.assign(key);
    return {};
  }
  is_sound_ = internal::FindPrefixes(AsBytes(options_.rule), key, &lengths_);
  if (!is_sound_) return {};
  const size_t shorter = std::min(key.size(), last_key_.size());
  const auto differs = std::mismatch(key.begin(), key.begin() + shorter, last_key_.begin());
  const auto shared = static_cast<size_t>(differs.first - key.begin());
  const std::span<const uint32_t> seen = last_lengths_.all();
  for (const uint32_t length : lengths_.all()) {
    // A callback may find a boundary that it did not find in the previous key.
    if (length <= shared && std::find(seen.begin(), seen.end(), length) != seen.end()) continue;
    uint64_t hash = internal::HashPrefix(key.substr(0, length), options_.hash_seed);
    for (unsigned i = 0; i < options_.num_lookups; ++i) {
      hashes_.push_back(hash);
      hash = internal::NextPrefixHash(hash);
    }
    ++num_prefixes_;
  }
  if (!hashes_.empty() &&
      !internal::FindsSamePrefixesInCutKey(AsBytes(options_.rule), key, lengths_)) {
    is_sound_ = false;
  }
  last_key_.assign(key);
  last_lengths_ = lengths_;
  return hashes_;
}

std::span<const uint64_t> PrefixBuilder::ChooseRule() {
  if (chooser_ == nullptr || !is_sound_) return {};
  PrefixChooser::Choice choice = chooser_->Choose();
  chosen_rule_ = std::move(choice.rule);
  hashes_ = std::move(choice.hashes);
  num_prefixes_ = choice.num_prefixes;
  return hashes_;
}

std::string PrefixBuilder::Finish() {
  std::string part;
  if (is_sound_ && num_prefixes_ != 0) {
    const std::string& rule = options_.rule.empty() ? chosen_rule_ : options_.rule;
    internal::AppendPrefixPart(
        {AsBytes(rule), num_prefixes_, options_.num_lookups, options_.is_whole_file, last_key_},
        &part);
  }
  Reset();
  return part;
}

void PrefixBuilder::Reset() noexcept {
  chooser_.reset();
  last_key_.clear();
  last_lengths_.Clear();
  num_prefixes_ = 0;
  is_sound_ = true;
}

}  // namespace blocksieve
