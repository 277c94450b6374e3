// SPDX-License-Identifier: Apache-2.0
#include "tests/rocksdb/compat/filter_bits_slots.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// A function in the wrong slot would silently be called instead of another. So the declarations of
// filter_bits_abi.h are compared slot by slot, for every generation of RocksDB's interface, with
// the virtual functions of RocksDB's table/block_based/filter_policy_internal.h.

namespace blocksieve::testing {
namespace {

/// On every supported platform, destructors have two slots, here the first ones.
Slots AfterDestructor(const std::vector<std::string>& functions) {
  Slots slots;
  for (const std::string& function : functions) slots[2 + slots.size()] = function;
  return slots;
}

// CalculateSpace and EstimatedFpRate, which the first two generations lack, are declared after
// their last slot, where the library never calls them.
TEST(FilterBitsSlotsTest, EveryGenerationIsDeclaredAsDescribed) {
  std::vector<std::string> builder = {"AddKey(key)",
                                      "EstimateEntriesAdded()",
                                      "Finish(buf)",
                                      "Finish(buf, status)",
                                      "MaybePostVerify(filter_content)",
                                      "ApproximateNumEntries(bytes)",
                                      "CalculateSpace(num_entries)",
                                      "EstimatedFpRate(num_entries, bytes)"};
  const Slots reader = AfterDestructor({"MayMatch(entry)", "MayMatch(num_keys, keys, may_match)"});
  std::map<std::string, Slots> expected = {{"FilterBitsBuilder", AfterDestructor(builder)},
                                           {"FilterBitsReader", reader}};
  EXPECT_EQ(DeclaredSlots<1>(), expected) << "7.0.3 to 9.5";
  builder.insert(builder.begin() + 1, "AddKeyAndAlt(key, alt)");
  expected["FilterBitsBuilder"] = AfterDestructor(builder);
  EXPECT_EQ(DeclaredSlots<2>(), expected) << "9.6 to 10.8";
  EXPECT_EQ(DeclaredSlots<3>(), expected) << "10.9 to 11.9";
}

// compat/later_tree, which has one function more before these.
TEST(FilterBitsSlotsTest, InATreeAreWhatItDeclares) {
  Slots builder =
      AfterDestructor({"Later()", "EstimatedFpRate(num_entries, bytes)",
                       "CalculateSpace(num_entries)", "AddKeyAndAlt(key, alt)", "AddKey(key)",
                       "EstimateEntriesAdded()", "ApproximateNumEntries(bytes)",
                       "MaybePostVerify(filter_content)", "Finish(buf)", "Finish(buf, status)"});
  builder.erase(2);
  const Slots reader = AfterDestructor({"MayMatch(num_keys, keys, may_match)", "MayMatch(entry)"});
  const std::map<std::string, Slots> expected = {{"FilterBitsBuilder", builder},
                                                 {"FilterBitsReader", reader}};
  EXPECT_EQ(DeclaredSlots<4>(), expected);
}

}  // namespace
}  // namespace blocksieve::testing
