#include <algorithm>
#include <string>
#include <vector>

#include "blocksieve/filter_block.h"
#include "blocksieve/filter_reader.h"
#include "blocksieve/internal/kernels.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/reseal.h"

// Any bytes can be opened as a filter block and probed; all kernels give the same answers, batches
// those of single probes, and what cannot be read matches everything.

namespace blocksieve::testing {
namespace {

constexpr size_t kProbes = 64;

std::vector<uint64_t> Hashes(ByteView seed) {
  uint64_t state = 0x9E3779B97F4A7C15u;
  for (const uint8_t byte : seed) state = (state ^ byte) * 0xD1342543DE82EF95u;
  std::vector<uint64_t> hashes{0, ~uint64_t{0}};  // the ends of the filter
  while (hashes.size() < kProbes) {
    state = state * 0xD1342543DE82EF95u + 1;
    hashes.push_back(state ^ state >> 29);
  }
  return hashes;
}

void Probe(ByteView block) {
  const std::vector<uint64_t> hashes = Hashes(block);
  std::vector<char> expected;
  for (const Kernel kernel : internal::AvailableKernels()) {
    const FilterReader reader = FilterReader::Open(block, kernel);
    bool batch[kProbes];
    reader.MayMatchHashes(hashes, batch);
    std::vector<char> answers;
    for (size_t i = 0; i < kProbes; ++i) {
      answers.push_back(reader.MayMatchHash(hashes[i]));
      Require(batch[i] == (answers[i] != 0), "a batch answers as single probes do");
    }
    if (reader.state() == FilterReader::State::kUnreadable) {
      Require(std::all_of(answers.begin(), answers.end(), [](char c) { return c != 0; }),
              "an unreadable filter matches everything");
      Require(!DescribeFilterBlock(block).ok(), "what is unreadable is described as an error");
    }
    if (expected.empty()) expected = answers;
    Require(answers == expected, "all kernels give the same answers");
  }
  if (VerifyFilterBlock(block).ok()) {
    Require(DescribeFilterBlock(block).ok(), "what is verified can be described");
  }
}

}  // namespace
}  // namespace blocksieve::testing

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace blocksieve::testing;
  Probe(ExactCopy({data, size}));
  if (const auto sealed = ResealFilterBlock({data, size})) {
    Probe(ExactCopy(blocksieve::AsBytes(*sealed)));
  }
  return 0;
}
