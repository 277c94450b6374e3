// SPDX-License-Identifier: Apache-2.0
#include "lib/base/coding.h"
#include "tests/core/format/written_block.h"

// The byte format is a promise (lib/FORMAT.md): the current writer makes the bytes of the files in
// tests/golden, and the current reader gives their answers, including false positives. Writer and
// reader are tested separately, so that they cannot change together unnoticed.
//
// A new format version gets new files; these files must be readable forever. To write the
// files of a new kind or version: BLOCKSIEVE_WRITE_GOLDEN=1 build/tests/core/core_test
// --gtest_filter='*GoldenBlockTest*'.

namespace blocksieve::testing {
namespace {

std::vector<WrittenBlockPtr> GoldenBlocks() {
  std::vector<WrittenBlockPtr> blocks = AllWrittenBlocks();
  std::erase_if(blocks, [](const WrittenBlockPtr& block) { return !block->HasFile(); });
  return blocks;
}

class GoldenBlockTest : public ::testing::TestWithParam<WrittenBlockPtr> {
 protected:
  void ExpectGoldenAnswers(const std::string& bytes) const {
    for (const Kernel kernel : internal::AvailableKernels()) {
      SCOPED_TRACE(KernelName(kernel));
      GetParam()->ExpectGoldenAnswers(AsBytes(bytes), kernel);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Files, GoldenBlockTest, ::testing::ValuesIn(GoldenBlocks()), NameOfBlock);

TEST_P(GoldenBlockTest, WriterMakesTheseBytes) {
  const std::string made = GetParam()->Make();
  if (WritesGoldenFiles()) std::ofstream(GetParam()->FilePath(), std::ios::binary) << made;
  const std::string expected = GetParam()->Bytes();
  EXPECT_EQ(WideChecksum(AsBytes(expected)), GetParam()->file_hash)
      << "the file itself has changed";
  if (GetParam()->HasOtherForms()) {
    ExpectGoldenAnswers(made);
  } else {
    EXPECT_TRUE(made == expected);
  }
}

TEST_P(GoldenBlockTest, ReaderGivesTheseAnswers) { ExpectGoldenAnswers(GetParam()->Bytes()); }

}  // namespace
}  // namespace blocksieve::testing
