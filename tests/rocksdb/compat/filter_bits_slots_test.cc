#include "tests/rocksdb/compat/filter_bits_slots.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// A function in the wrong slot is called instead of another without anybody noticing. So what
// filter_bits_abi.h declares is compared, for every generation of RocksDB's interface, with its
// virtual functions slot by slot, as the upstream headers
// table/block_based/filter_policy_internal.h have them.

namespace blocksieve::testing {
namespace {

/// The compiler of every supported platform gives a destructor two slots, here the first ones.
Slots AfterDestructor(const std::vector<std::string>& functions) {
  Slots slots;
  for (const std::string& function : functions) slots[2 + slots.size()] = function;
  return slots;
}

// What a generation lacks is declared after its last slot, where its library never calls it:
// CalculateSpace and EstimatedFpRate in the first two.
TEST(FilterBitsSlots, EveryGenerationIsDeclaredAsDescribed) {
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

}  // namespace
}  // namespace blocksieve::testing
