// SPDX-License-Identifier: Apache-2.0
#include "tests/support/key_sets.h"

#include <cstdio>

namespace blocksieve::testing {
namespace {

std::vector<std::string> EverySecondKey(KeyShape shape, uint64_t first, uint64_t count) {
  std::vector<std::string> keys;
  keys.reserve(count);
  for (uint64_t i = 0; i < count; ++i) keys.push_back(MakeKey(shape, first + 2 * i));
  return keys;
}

template <class... Values>
std::string Format(const char* format, Values... values) {
  char text[128];
  std::snprintf(text, sizeof(text), format, static_cast<unsigned long long>(values)...);
  return text;
}

}  // namespace

std::string MakeKey(KeyShape shape, uint64_t i) {
  switch (shape) {
    case KeyShape::kCounter: {
      std::string key;
      for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(i >> shift));
      return key;
    }
    case KeyShape::kUrl:
      return Format("https://www.site%05llu.example.org/articles/2026/%llu/page-%08llu.html",
                    i / 1000, i / 100 % 10, i);
  }
  return "";
}

std::vector<std::string> PresentKeys(KeyShape shape, uint64_t count) {
  return EverySecondKey(shape, 0, count);
}

std::vector<std::string> AbsentKeys(KeyShape shape, uint64_t count) {
  return EverySecondKey(shape, 1, count);
}

const std::vector<std::string>& AwkwardKeys() {
  static const std::vector<std::string> keys = {
      "",
      std::string(1, '\0'),
      std::string(2, '\0'),
      std::string(40, '\0'),
      "a",
      std::string("a\0", 2),
      "g",
      "g0000",
      "/",
      "/after an empty prefix",
      "\x7f",
      "\x80",
      "\x80\x80\x80\x80\x80\x80\x80\x80",
      "\xc3\xa4\xc3\xb6\xc3\xbc",
      "\xfe\xff",
      std::string(8, '\xff'),
      std::string(300, '\xff'),
  };
  return keys;
}

std::string GroupKey(uint64_t group, uint64_t member) {
  return Format("g%05llu/%04llu", group, member);
}

std::vector<std::string> GroupKeys(uint64_t first, uint64_t num_groups, uint64_t members) {
  std::vector<std::string> keys;
  for (uint64_t group = first; group < first + 2 * num_groups; group += 2) {
    for (uint64_t member = 0; member < members; ++member) keys.push_back(GroupKey(group, member));
  }
  return keys;
}

}  // namespace blocksieve::testing
