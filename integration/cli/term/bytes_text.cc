#include "integration/cli/term/bytes_text.h"

#include <cstddef>
#include <cstdint>

namespace blocksieve::cli {
namespace {

// Bytes of the character that `lead` begins, and the range of the second one; 0 bytes if it cannot
// begin one.
struct Lead {
  size_t num_bytes;
  uint8_t low;
  uint8_t high;
};

Lead DescribeLead(uint8_t lead) {
  if (lead < 0x80) return {1, 0, 0};
  if (lead < 0xc2) return {0, 0, 0};
  if (lead < 0xe0) return {2, 0x80, 0xbf};
  if (lead == 0xe0) return {3, 0xa0, 0xbf};
  if (lead == 0xed) return {3, 0x80, 0x9f};
  if (lead < 0xf0) return {3, 0x80, 0xbf};
  if (lead == 0xf0) return {4, 0x90, 0xbf};
  if (lead < 0xf4) return {4, 0x80, 0xbf};
  if (lead == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

}  // namespace

bool IsUtf8(std::string_view bytes) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  for (size_t i = 0; i < bytes.size();) {
    const Lead lead = DescribeLead(byte(i));
    if (lead.num_bytes == 0 || lead.num_bytes > bytes.size() - i) return false;
    if (lead.num_bytes > 1 && (byte(i + 1) < lead.low || byte(i + 1) > lead.high)) return false;
    for (size_t j = 2; j < lead.num_bytes; ++j) {
      if ((byte(i + j) & 0xc0) != 0x80) return false;
    }
    i += lead.num_bytes;
  }
  return true;
}

std::string ToHex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    text += kDigits[static_cast<uint8_t>(c) >> 4];
    text += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return text;
}

void SetBytes(nlohmann::ordered_json* object, const std::string& name, std::string_view bytes) {
  if (IsUtf8(bytes)) {
    (*object)[name] = bytes;
  } else {
    (*object)[name + "_hex"] = ToHex(bytes);
  }
}

}  // namespace blocksieve::cli
