#include "lib/prefix/prefix_builder.h"

#include <algorithm>
#include <utility>

#include "lib/base/coding.h"
#include "lib/prefix/prefix_chooser.h"
#include "lib/prefix/prefix_part.h"

namespace blocksieve {

PrefixBuilder::PrefixBuilder(PrefixPartOptions options)
    : options_(std::move(options)),
      max_prefixes_(options_.rule.empty() ? 0 : internal::MaxPrefixesOf(AsBytes(options_.rule))) {}
PrefixBuilder::PrefixBuilder(PrefixBuilder&&) noexcept = default;
PrefixBuilder& PrefixBuilder::operator=(PrefixBuilder&&) noexcept = default;
PrefixBuilder::~PrefixBuilder() = default;

std::span<const uint64_t> PrefixBuilder::AddKey(std::string_view key) {
  if (!is_sound_) return {};
  if (!options_.is_whole_file) last_key_.assign(key);
  const ByteView rule = AsBytes(options_.rule);
  if (rule.empty()) {
    if (chooser_ == nullptr) {
      chooser_ = std::make_unique<PrefixChooser>(options_.num_lookups, options_.hash_seed);
    }
    chooser_->AddKey(key);
    return {};
  }
  const size_t shared = SharedBytes(key, last_prefix_);
  if (shared == last_prefix_.size() &&
      internal::HasNoMorePrefixes(rule, max_prefixes_, last_lengths_, key)) {
    return {};
  }
  return AddNewPrefixes(key, shared);
}

std::span<const uint64_t> PrefixBuilder::AddNewPrefixes(std::string_view key, size_t shared) {
  hashes_.clear();
  lengths_ = last_lengths_;
  lengths_.Truncate(shared);
  is_sound_ = internal::FindMorePrefixes(AsBytes(options_.rule), key, &lengths_);
  if (!is_sound_) return {};
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
  last_prefix_.assign(key.substr(0, lengths_.longest()));
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
        {rule, num_prefixes_, options_.num_lookups, options_.is_whole_file, last_key_},
        &part);
  }
  Reset();
  return part;
}

void PrefixBuilder::Reset() noexcept {
  chooser_.reset();
  last_key_.clear();
  last_prefix_.clear();
  last_lengths_.Clear();
  num_prefixes_ = 0;
  is_sound_ = true;
}

}  // namespace blocksieve
