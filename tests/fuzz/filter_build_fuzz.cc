#include <algorithm>
#include <vector>

#include "blocksieve/filter.h"
#include "lib/base/kernels.h"
#include "lib/bloom/blocked_bloom.h"
#include "lib/filter/filter_access.h"
#include "tests/core/ribbon/ribbon_test_builds.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"

// Any hashes, including ones that no hash function returns: all kernels build the same bytes from
// them, and every hash matches.

namespace blocksieve::testing {
namespace {

// Hashes from the input, and variants that differ in a few bits.
std::vector<uint64_t> AnyHashes(Input* input) {
  std::vector<uint64_t> hashes;
  while (!input->empty()) {
    const uint64_t hash = input->Number<uint64_t>();
    const uint64_t step = uint64_t{1} << input->Below(64);
    const size_t count = 1 + input->Below(64);
    for (size_t i = 0; i < count; ++i) hashes.push_back(hash + i * step);
  }
  return hashes;
}

void CompareBlooms(const std::vector<uint64_t>& hashes, Input* input) {
  const auto num_probes = static_cast<uint32_t>(1 + input->Below(internal::kMaxLineProbes));
  const uint64_t num_lines = 1 + input->Below(256);
  std::vector<uint8_t> expected;
  for (const Kernel kernel : internal::AvailableKernels()) {
    std::vector<uint8_t> lines(num_lines * internal::kLineBytes);
    internal::BlockedBloomFill(kernel, num_probes)(hashes, num_lines, lines.data());
    if (expected.empty()) expected = lines;
    Require(lines == expected, "all kernels set the same bits");
  }
}

void CompareRibbons(const std::vector<uint64_t>& hashes, Input* input) {
  const auto columns = static_cast<uint32_t>(1 + input->Below(internal::kMaxRibbonColumns - 1));
  const Columns layout(columns, static_cast<double>(input->Below(256)) / 256);
  std::vector<uint8_t> expected;
  for (const Kernel kernel : internal::AvailableKernels()) {
    const std::vector<uint8_t> payload = BuildRibbonOf(hashes, layout, kernel).bytes;
    if (expected.empty()) expected = payload;
    Require(payload == expected, "all kernels solve a ribbon alike");
  }
}

void CheckFound(const std::vector<uint64_t>& hashes, Input* input) {
  FilterOptions options;
  options.kind = input->Flag() ? FilterKind::kRibbon : FilterKind::kBlockedBloom;
  options.target_fpr = 1.0 / static_cast<double>(2 + input->Number<uint16_t>());
  Result<FilterBuilder> builder = FilterBuilder::Create(options);
  for (const uint64_t hash : hashes) builder->AddHash(hash);
  const Result<OwnedBytes> block = builder->Finish();
  Require(block.ok(), "any hashes make a filter");
  for (const Kernel kernel : internal::AvailableKernels()) {
    const Filter reader = internal::FilterAccess::Open(block->view(), kernel);
    Require(reader.state() != Filter::State::kUnreadable, "a finished block can be read");
    for (const uint64_t hash : hashes) Require(reader.MayContainHash(hash), "every hash is found");
  }
}

}  // namespace

void TestOneInput(ByteView bytes) {
  // The options come before the hashes.
  const size_t choice_bytes = std::min<size_t>(bytes.size(), 8);
  Input choices(bytes.first(choice_bytes));
  Input input(bytes.subspan(choice_bytes));
  const std::vector<uint64_t> hashes = AnyHashes(&input);
  CheckFound(hashes, &choices);
  if (hashes.empty()) return;
  CompareBlooms(hashes, &choices);
  CompareRibbons(hashes, &choices);
}

}  // namespace blocksieve::testing
