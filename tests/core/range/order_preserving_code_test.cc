#include "lib/range/order_preserving_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/core/range/range_test_keys.h"
#include "tests/support/param_names.h"

namespace blocksieve::internal {
namespace {

using blocksieve::testing::Formatted;
using blocksieve::testing::KeyFamilies;
using blocksieve::testing::KeyFamily;
using blocksieve::testing::NearKey;
using blocksieve::testing::Random;

/// A code and the bytes of its model.
class LearntCode {
 public:
  explicit LearntCode(const std::vector<std::string>& keys) {
    SortedKeys sorted;
    for (const std::string& key : keys) sorted.Append(key);
    const CodeSizes sizes = AppendKeyCode(sorted, &bytes_);
    Decoder from(AsBytes(bytes_));
    code_ = OrderPreservingCode(sizes, &from);
    EXPECT_TRUE(from.ok());
    EXPECT_TRUE(from.rest().empty());
  }

  const OrderPreservingCode* operator->() const { return &code_; }

 private:
  std::string bytes_;
  OrderPreservingCode code_;
};

void ExpectOrder(const LearntCode& code, std::vector<std::string> strings, size_t depth) {
  std::sort(strings.begin(), strings.end());
  uint64_t before = 0;
  for (size_t i = 0; i < strings.size(); ++i) {
    const uint64_t here = code->Code(strings[i], depth);
    ASSERT_LT(here, OrderPreservingCode::kEnd);
    ASSERT_LE(before, here) << ::testing::PrintToString(strings[i - 1]) << " and "
                            << ::testing::PrintToString(strings[i]) << ", depth " << depth;
    before = here;
  }
}

class CodeOrder : public ::testing::TestWithParam<KeyFamily> {};

INSTANTIATE_TEST_SUITE_P(Families, CodeOrder, ::testing::ValuesIn(KeyFamilies()),
                         blocksieve::testing::ParamNames());

// Codes have the order of keys, also after equal first bytes.
TEST_P(CodeOrder, IsThatOfKeys) {
  const std::vector<std::string> keys = GetParam().Keys();
  const LearntCode code(keys);
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    const std::string& key = keys[random() % keys.size()];
    const size_t depth = round % 4 == 0 ? 0 : random() % (key.size() + 1);
    const std::string prefix = key.substr(0, depth);
    std::vector<std::string> strings = {prefix,
                                        prefix + '\0',
                                        prefix + '\xff',
                                        key,
                                        prefix + std::string(400, '\0'),
                                        prefix + std::string(400, '\xff')};
    for (int i = 0; i < 60; ++i) {
      // Bytes of another key, so that the model has symbols for them.
      const std::string& other = keys[random() % keys.size()];
      std::string rest =
          random() % 2 == 0 ? key.substr(depth) : other.substr(std::min(depth, other.size()));
      for (uint64_t changes = random() % 3; changes > 0; --changes) rest = NearKey(rest, &random);
      strings.push_back(prefix + rest);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectOrder(code, std::move(strings), depth));
  }
}

}  // namespace
}  // namespace blocksieve::internal
