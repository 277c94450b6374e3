#include "lib/range/candidate_keys.h"

#include <algorithm>
#include <cassert>

namespace blocksieve::internal {

KeyForm FormOf(const SortedKeys& keys) noexcept {
  KeyForm form;
  const size_t length = keys[0].size();
  if (length < KeyForm::kTailBytes || length > UINT16_MAX) return form;
  form.tail.fill({UINT8_MAX, 0});
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string_view key = keys[i];
    if (key.size() != length) return {};
    for (size_t j = 0; j < KeyForm::kTailBytes; ++j) {
      const auto byte = static_cast<uint8_t>(key[length - KeyForm::kTailBytes + j]);
      form.tail[j].lowest = std::min(form.tail[j].lowest, byte);
      form.tail[j].highest = std::max(form.tail[j].highest, byte);
    }
  }
  form.key_bytes = static_cast<uint16_t>(length);
  return form;
}

CandidateKeys::CandidateKeys(const KeyForm& form, std::string_view begin, std::string_view end)
    : form_(form), end_(end) {
  if (form.key_bytes < KeyForm::kTailBytes) return;
  const size_t head = form.key_bytes - KeyForm::kTailBytes;
  ok_ = begin.size() >= head && end.size() >= head && begin.substr(0, head) == end.substr(0, head);
  if (!ok_) return;
  // The first string of the keys' length that is not below begin. Next() corrects its bytes.
  key_ = begin.substr(0, form.key_bytes);
  key_.resize(form.key_bytes, '\0');
  is_first_ = begin.size() <= form.key_bytes;
}

bool CandidateKeys::Next() noexcept {
  assert(ok_);
  const size_t head = form_.key_bytes - KeyForm::kTailBytes;
  // Increment from the last byte on, except for the first candidate.
  size_t carry = KeyForm::kTailBytes;
  if (!is_first_) {
    for (;;) {
      if (carry == 0) return false;
      --carry;
      const auto byte = static_cast<uint8_t>(key_[head + carry]);
      if (byte < form_.tail[carry].highest) {
        key_[head + carry] = static_cast<char>(std::max<int>(byte + 1, form_.tail[carry].lowest));
        ++carry;
        break;
      }
    }
    for (size_t i = carry; i < KeyForm::kTailBytes; ++i) {
      key_[head + i] = static_cast<char>(form_.tail[i].lowest);
    }
  }
  is_first_ = false;
  // A byte below the lowest is raised, and all bytes after it restart at their lowest. A byte above
  // the highest carries into the byte before it.
  for (size_t i = 0; i < KeyForm::kTailBytes; ++i) {
    const auto byte = static_cast<uint8_t>(key_[head + i]);
    if (byte < form_.tail[i].lowest) {
      for (size_t j = i; j < KeyForm::kTailBytes; ++j) {
        key_[head + j] = static_cast<char>(form_.tail[j].lowest);
      }
      break;
    }
    if (byte > form_.tail[i].highest) {
      for (size_t j = i; j < KeyForm::kTailBytes; ++j) {
        key_[head + j] = static_cast<char>(form_.tail[j].highest);
      }
      return Next();
    }
  }
  return std::string_view(key_) < end_;
}

}  // namespace blocksieve::internal
