// SPDX-License-Identifier: Apache-2.0
#include "integration/sieve/normalize_url.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace blocksieve::sieve {
namespace {

// The standard library's functions depend on the locale.
bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), ToLower);
  return lower;
}

constexpr std::string_view kHexDigits = "0123456789ABCDEFabcdef";

bool IsHexDigit(char c) { return kHexDigits.find(c) != std::string_view::npos; }

bool IsUnreserved(char c) {
  return IsAlpha(c) || IsDigit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

// Whether a hexadecimal digit after this text could complete an escape, because the text ends in a
// '%' without an escape.
bool EndsInLonePercent(std::string_view text) {
  return text.find('%', std::max<size_t>(text.size(), 2) - 2) != std::string_view::npos;
}

std::string NormalizeEscapes(std::string_view text) {
  std::string normal;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 2 >= text.size() || !IsHexDigit(text[i + 1]) ||
        !IsHexDigit(text[i + 2])) {
      normal.push_back(text[i]);
      continue;
    }
    uint8_t byte = 0;
    std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
    const char c = static_cast<char>(byte);
    if (IsUnreserved(c) && !(IsHexDigit(c) && EndsInLonePercent(normal))) {
      normal.push_back(c);
    } else {
      normal.append({'%', kHexDigits[byte >> 4], kHexDigits[byte & 15]});
    }
    i += 2;
  }
  return normal;
}

/// RFC 3986, section 5.2.4, for a path that begins with "/".
std::string RemoveDotSegments(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/', 1), path.size());
    const std::string_view segment = path.substr(0, end);
    const bool is_last = end == path.size();
    if (segment == "/..") result.erase(std::min(result.rfind('/'), result.size()));
    if (segment != "/." && segment != "/..") {
      result += segment;
    } else if (is_last) {
      result += '/';
    }
    path.remove_prefix(end);
  }
  return result;
}

// `host_port` is "host:port". Text with several colons has no port, unless they are in brackets.
std::string_view WithoutDefaultPort(std::string_view scheme, std::string_view host_port) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kPorts{
      {{"http", ":80"}, {"https", ":443"}, {"ftp", ":21"}}};
  const std::string_view host = host_port.substr(0, host_port.rfind(':'));
  if (host.find(':') != std::string_view::npos && !host.ends_with(']')) return host_port;
  const std::string_view port = host_port.substr(host.size());
  const bool is_default =
      std::find(kPorts.begin(), kPorts.end(), std::pair(scheme, port)) != kPorts.end();
  return is_default || port == ":" ? host : host_port;
}

/// Normalizes "user@host:port", but keeps the case of the user.
std::string NormalizeAuthority(std::string_view scheme, std::string_view authority) {
  const size_t user_bytes = authority.rfind('@') + 1;  // npos + 1 is 0
  const std::string host_port =
      NormalizeEscapes(Lower(NormalizeEscapes(authority.substr(user_bytes))));
  return NormalizeEscapes(authority.substr(0, user_bytes))
      .append(WithoutDefaultPort(scheme, host_port));
}

constexpr std::string_view kSpace = " \t\r\n\f\v";

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

}  // namespace

std::string NormalizeUrl(std::string_view url) {
  url = Trim(url);
  const size_t colon = url.find("://");
  const auto is_scheme_character = [](char c) {
    return IsAlpha(c) || IsDigit(c) || c == '+' || c == '-' || c == '.';
  };
  if (colon == std::string_view::npos || colon == 0 || !IsAlpha(url.front()) ||
      !std::all_of(url.begin(), url.begin() + static_cast<ptrdiff_t>(colon), is_scheme_character)) {
    return std::string(url);
  }
  const std::string scheme = Lower(url.substr(0, colon));
  url = url.substr(colon + 3);
  url = url.substr(0, url.find('#'));
  url = url.substr(0, url.find_last_not_of(kSpace) + 1);
  const std::string_view authority = url.substr(0, url.find_first_of("/?"));
  url.remove_prefix(authority.size());
  const std::string_view path = url.substr(0, url.find('?'));
  const std::string_view query = url.substr(path.size());

  const std::string host = NormalizeAuthority(scheme, authority);
  std::string normal_path = RemoveDotSegments(NormalizeEscapes(path));
  if (normal_path.empty() && !host.empty()) normal_path = "/";
  return scheme + "://" + host + normal_path + NormalizeEscapes(query);
}

}  // namespace blocksieve::sieve
