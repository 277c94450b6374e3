#include "tests/rocksdb/compat/filter_bits_slots.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/source_path.h"

// A function in the wrong slot is called instead of another without anybody noticing. So what
// filter_bits_abi.h declares is compared, for every generation of RocksDB's interface, with
// filter_bits_slots.txt.

namespace blocksieve::testing {
namespace {

using Generation = std::map<std::string, Slots>;  // by class

/// By the letter of the generation.
std::map<std::string, Generation> ReadDescription() {
  std::ifstream file(SourcePath("tests/rocksdb/compat/filter_bits_slots.txt"));
  EXPECT_TRUE(file.is_open());
  std::map<std::string, Generation> generations;
  std::string class_name;
  std::vector<std::string> described;  // generations
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first.empty() || first[0] == '#') continue;
    if (first == "generation") {
      words >> class_name;
      described.clear();
      for (std::string letter; words >> letter && letter != "#";) {
        described.push_back(letter);
        EXPECT_TRUE(generations[letter][class_name].empty()) << line << " twice";
      }
      continue;
    }
    for (const std::string& letter : described) {
      Slots& slots = generations[letter][class_name];
      EXPECT_EQ(std::stoul(first), slots.size()) << "slots are listed in order: " << line;
      slots.emplace(slots.size(), line.substr(first.size() + 1));
    }
  }
  return generations;
}

void ExpectDescribed(const Generation& declared, const Generation& described) {
  ASSERT_EQ(described.size(), 2u);
  for (const auto& [class_name, slots] : declared) {
    SCOPED_TRACE(class_name);
    Slots expected = described.at(class_name);
    // Its slots are those that nothing else has.
    for (const size_t slot : {0, 1}) {
      EXPECT_EQ(expected[slot].rfind("~" + class_name + "()", 0), 0u) << expected[slot];
      expected.erase(slot);
    }
    EXPECT_EQ(slots, expected);
  }
}

TEST(FilterBitsSlots, EveryGenerationIsDeclaredAsDescribed) {
  const auto described = ReadDescription();
  ASSERT_EQ(described.size(), 3u);
  ExpectDescribed(DeclaredSlots<1>(), described.at("A"));
  ExpectDescribed(DeclaredSlots<2>(), described.at("B"));
  ExpectDescribed(DeclaredSlots<3>(), described.at("C"));
}

}  // namespace
}  // namespace blocksieve::testing
