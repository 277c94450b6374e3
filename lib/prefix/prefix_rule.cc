#include "lib/prefix/prefix_rule.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <shared_mutex>
#include <utility>

#include "lib/base/coding.h"
#include "lib/base/errors.h"

namespace blocksieve {
namespace internal {
namespace {

class Callbacks {
 public:
  static Callbacks& Instance() {
    static auto& callbacks = *new Callbacks;  // databases may be read while the process ends
    return callbacks;
  }

  bool Add(std::string_view name, PrefixCallback callback) {
    const std::unique_lock lock(mutex_);
    return callbacks_.emplace(name, std::move(callback)).second;
  }

  // Callbacks are never removed, so a pointer stays valid.
  const PrefixCallback* Find(std::string_view name) const {
    const std::shared_lock lock(mutex_);
    const auto found = callbacks_.find(name);
    return found == callbacks_.end() ? nullptr : &found->second;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, PrefixCallback, std::less<>> callbacks_;
};

// Size of a field that begins with its big-endian length of `bytes` bytes; none if the key ends.
std::optional<size_t> SizedField(std::string_view key, size_t at, size_t bytes) noexcept {
  if (key.size() - at < bytes) return std::nullopt;
  uint64_t content = 0;
  for (size_t i = 0; i < bytes; ++i) content = content << 8 | static_cast<uint8_t>(key[at + i]);
  return bytes + static_cast<size_t>(content);
}

bool FindAfterDelimiters(ByteView parameters, std::string_view key, PrefixLengths* lengths) {
  if (parameters.size() < 2) return false;
  const size_t depth = parameters[0];
  const std::string_view delimiter = AsText(parameters.subspan(1));
  if (depth == 0) return false;
  const size_t max_prefixes = std::min(depth, kMaxPrefixes);
  key = key.substr(0, kMaxPrefixBytes);
  if (delimiter.size() == 1) {  // one pass: prefixes are short, and calls of memchr slow
    for (size_t i = lengths->longest(); i < key.size() && lengths->all().size() < max_prefixes;
         ++i) {
      if (key[i] == delimiter[0]) lengths->Add(i + 1);
    }
    return true;
  }
  for (size_t at = lengths->longest(); lengths->all().size() < max_prefixes;) {
    at = key.find(delimiter, at);
    if (at == std::string_view::npos) break;
    at += delimiter.size();
    lengths->Add(at);
  }
  return true;
}

bool FindAtLengths(ByteView parameters, std::string_view key, PrefixLengths* lengths) {
  lengths->Clear();
  Decoder from(parameters);
  while (!from.rest().empty() && !lengths->is_full()) {
    const size_t length = from.Fixed<uint16_t>();
    if (!from.ok() || length <= lengths->longest()) return false;
    if (length > key.size()) break;
    lengths->Add(length);
  }
  return true;
}

bool FindAfterFields(ByteView parameters, std::string_view key, PrefixLengths* lengths) {
  size_t at = 0;
  lengths->Clear();
  Decoder from(parameters);
  while (!from.rest().empty() && !lengths->is_full()) {
    const auto type = from.Fixed<uint8_t>();
    const auto size = from.Fixed<uint16_t>();
    if (!from.ok()) return false;
    const size_t length_bytes = type & ~kEndsPrefix;
    if (length_bytes > 4 || length_bytes == 3 || (length_bytes == 0) != (size != 0)) return false;
    const std::optional<size_t> field =
        length_bytes == 0 ? size : SizedField(key, at, length_bytes);
    if (!field || *field > key.size() - at) break;
    at += *field;
    if (at > kMaxPrefixBytes) break;
    if ((type & kEndsPrefix) != 0) lengths->Add(at);
  }
  return true;
}

bool FindByCallback(ByteView name, std::string_view key, PrefixLengths* lengths) {
  const PrefixCallback* const callback = FindPrefixCallback(AsText(name));
  if (callback == nullptr) return false;
  std::array<size_t, kMaxPrefixes> found;
  lengths->Clear();
  const size_t count = (*callback)(key, found);
  if (count > found.size()) return false;
  for (size_t i = 0; i < count; ++i) {
    if (found[i] <= lengths->longest() || found[i] > key.size()) return false;
    if (found[i] > kMaxPrefixBytes) break;
    lengths->Add(found[i]);
  }
  return true;
}

}  // namespace

bool IsPrefixCallbackName(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kMaxPrefixCallbackName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                  c == '.' || c == '_' || c == '-';
         });
}

const PrefixCallback* FindPrefixCallback(std::string_view name) noexcept {
  return Callbacks::Instance().Find(name);
}

size_t MaxPrefixesOf(ByteView rule) noexcept {
  switch (static_cast<RuleKind>(rule[0])) {
    case RuleKind::kDelimiter:
      return std::min<size_t>(rule[1], kMaxPrefixes);
    case RuleKind::kLengths:
      return std::min((rule.size() - 1) / sizeof(uint16_t), kMaxPrefixes);
    case RuleKind::kFields: {
      size_t fields = 0;
      for (size_t i = 1; i < rule.size(); i += kFieldBytes) fields += (rule[i] & kEndsPrefix) != 0;
      return std::min(fields, kMaxPrefixes);
    }
    case RuleKind::kCallback:
      break;
  }
  return SIZE_MAX;
}

bool FindPrefixes(ByteView rule, std::string_view key, PrefixLengths* lengths) noexcept {
  lengths->Clear();
  return FindMorePrefixes(rule, key, lengths);
}

bool FindMorePrefixes(ByteView rule, std::string_view key, PrefixLengths* lengths) noexcept try {
  if (rule.empty()) return false;
  const ByteView parameters = rule.subspan(1);
  switch (static_cast<RuleKind>(rule[0])) {
    case RuleKind::kDelimiter:
      return FindAfterDelimiters(parameters, key, lengths);
    case RuleKind::kLengths:
      return FindAtLengths(parameters, key, lengths);
    case RuleKind::kFields:
      return FindAfterFields(parameters, key, lengths);
    case RuleKind::kCallback:
      return FindByCallback(parameters, key, lengths);
  }
  return false;
} catch (...) {  // the application's callback may throw anything
  return false;
}

std::optional<size_t> FindLongestPrefix(ByteView rule, std::string_view key) noexcept {
  if (IsOneByteDelimiter(rule) && key.size() <= kMaxPrefixBytes) {
    // Without a branch for each byte; most keys have fewer boundaries than the rule allows.
    const auto delimiter = static_cast<char>(rule[2]);
    const auto count = static_cast<size_t>(std::count(key.begin(), key.end(), delimiter));
    if (count == 0) return std::nullopt;
    if (count <= MaxPrefixesOf(rule)) return key.rfind(delimiter) + 1;
  }
  PrefixLengths lengths;
  if (!FindPrefixes(rule, key, &lengths) || lengths.empty()) return std::nullopt;
  return lengths.longest();
}

bool FindsSamePrefixesInCutKey(ByteView rule, std::string_view key,
                               const PrefixLengths& lengths) noexcept {
  if (static_cast<RuleKind>(rule[0]) != RuleKind::kCallback || lengths.empty()) return true;
  for (const size_t cut : {size_t{lengths.longest()}, size_t{lengths.longest()} - 1}) {
    PrefixLengths found;
    if (!FindPrefixes(rule, key.substr(0, cut), &found)) return false;
    const auto expected = lengths.all();
    const auto end = std::upper_bound(expected.begin(), expected.end(), cut);
    if (!std::equal(found.all().begin(), found.all().end(), expected.begin(), end)) return false;
  }
  return true;
}

}  // namespace internal

Status RegisterPrefixCallback(std::string_view name, PrefixCallback callback) try {
  if (!internal::IsPrefixCallbackName(name)) {
    return Status::InvalidArgument("name is " + internal::Shown(name) + "; allowed: 1 to 64 " +
                                   "letters, digits, '.', '_' and '-'");
  }
  if (!callback) return Status::InvalidArgument("callback is null");
  if (internal::Callbacks::Instance().Add(name, std::move(callback))) return Status::Ok();
  return Status::InvalidArgument("a callback named " + std::string(name) +
                                 " is registered already");
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

}  // namespace blocksieve
