// SPDX-License-Identifier: Apache-2.0
#include "integration/sieve/normalize_url.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace blocksieve::testing {
namespace {

using sieve::NormalizeUrl;

TEST(NormalizeUrlTest, SpellingsOfAUrlBecomeEqual) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"http://example.org", "http://example.org/"},
      {"HTTP://Example.ORG/Path", "http://example.org/Path"},
      {"  http://example.org/a\r", "http://example.org/a"},
      {"http://example.org:80/", "http://example.org/"},
      {"https://example.org:443?q", "https://example.org/?q"},
      {"https://example.org:80/", "https://example.org:80/"},
      {"http://example.org:/", "http://example.org/"},
      {"http://example.org/a#part", "http://example.org/a"},
      {"http://example.org/a?b#c?d", "http://example.org/a?b"},
      {"http://example.org/%7euser/%2f%c3%a4", "http://example.org/~user/%2F%C3%A4"},
      {"http://example.org/?q=%41%20b", "http://example.org/?q=A%20b"},
      {"http://EX%41MPLE.org/", "http://example.org/"},
      {"http://User:Pass@Example.org/", "http://User:Pass@example.org/"},
      // RFC 3986, section 5.2.4 and 5.4
      {"http://a/b/c/./../../g", "http://a/g"},
      {"http://a/b/c/.", "http://a/b/c/"},
      {"http://a/b/c/..", "http://a/b/"},
      {"http://a/../../g", "http://a/g"},
      {"http://a/b//c/../d", "http://a/b//d"},
      {"http://a/b/...", "http://a/b/..."},
      {"http://a/%2e%2E/b", "http://a/b"},
      {"http://a/b?x=/../y", "http://a/b?x=/../y"},
      {"http://[2001:DB8::1]:80/", "http://[2001:db8::1]/"},
      {"file:///etc/../tmp", "file:///tmp"},
  };
  for (const auto& [url, expected] : cases) {
    EXPECT_EQ(NormalizeUrl(url), expected);
    EXPECT_EQ(NormalizeUrl(expected), expected) << "not idempotent";
  }
}

TEST(NormalizeUrlTest, OtherTextIsKept) {
  for (const std::string text :
       {"", "a", "mailto:A@B", "://x", "1http://X", "a b://X", "/A/../B", "100%", "%41"}) {
    EXPECT_EQ(NormalizeUrl(text), text);
  }
  EXPECT_EQ(NormalizeUrl("http://a/%zz%4"), "http://a/%zz%4");
}

}  // namespace
}  // namespace blocksieve::testing
