#include "integration/cli/term/delimiter.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "integration/cli/term/failure.h"

namespace blocksieve::cli {
namespace {

std::optional<uint8_t> HexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<uint8_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<uint8_t>(c - 'A' + 10);
  return std::nullopt;
}

std::optional<char> Parse(std::string_view text) {
  if (text.size() == 1) return text.front();
  if (text == "\\t") return '\t';
  if (text == "\\\\") return '\\';
  if (text.size() != 4 || !text.starts_with("\\x")) return std::nullopt;
  const std::optional<uint8_t> high = HexDigit(text[2]);
  const std::optional<uint8_t> low = HexDigit(text[3]);
  if (!high || !low) return std::nullopt;
  return static_cast<char>(*high << 4 | *low);
}

}  // namespace

char ParseDelimiter(std::string_view text) {
  const std::optional<char> delimiter = Parse(text);
  if (!delimiter || *delimiter == '\n') {
    FailUsage(R"(--delimiter is '{}'; allowed is one byte but the line end, or \t, \\ or \xHH)",
              text);
  }
  return *delimiter;
}

std::string DelimiterName(char delimiter) {
  if (delimiter == '\t') return "TAB";
  const bool is_printable = delimiter > ' ' && delimiter < '\x7f';
  return is_printable ? fmt::format("'{}'", delimiter)
                      : fmt::format("'\\x{:02x}'", static_cast<uint8_t>(delimiter));
}

}  // namespace blocksieve::cli
