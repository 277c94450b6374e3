#include "lib/ribbon/probe.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/kernels.h"
#include "lib/ribbon/shape.h"

namespace blocksieve::internal {
namespace {

/// Memory that is followed by an unmapped page, so that reading past the end traps.
class GuardedBytes {
 public:
  explicit GuardedBytes(size_t size) : pages_((size + 4095) / 4096 * 4096) {
    base_ = static_cast<uint8_t*>(
        mmap(nullptr, pages_ + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(base_ + pages_, 4096, PROT_NONE), 0);
    data_ = base_ + pages_ - size;
  }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  ~GuardedBytes() { munmap(base_, pages_ + 4096); }

  uint8_t* data() const { return data_; }

 private:
  size_t pages_;
  uint8_t* base_;
  uint8_t* data_;
};

/// Entry points of all kernels, including those that RibbonOpsFor does not choose here.
std::vector<std::pair<std::string_view, ProbeOps>> AllOps(const RibbonShape& shape) {
  std::vector<std::pair<std::string_view, ProbeOps>> all;
  for (const Kernel kernel : AvailableKernels()) {
    all.emplace_back(KernelName(kernel), RibbonOpsFor(kernel, shape));
  }
  if (!shape.has_always_true_chunks) {
    const size_t directory = shape.chunks == 1 ? 0 : shape.BaseBytes() == 0 ? 1 : 2;
    const bool mixed = shape.narrow_segments > 0 && shape.narrow_segments < shape.segments();
    all.emplace_back("without popcnt", kRibbonScalar[directory][mixed]);
  }
  return all;
}

// With arbitrary segments and directory, all kernels read within the filter, and agree.
TEST(RibbonProbeTest, KernelsAgreeOnAnyPayload) {
  std::mt19937_64 random(5);
  size_t matches = 0;
  for (int round = 0; round < 3000; ++round) {
    RibbonShape shape;
    shape.columns = static_cast<uint32_t>(1 + random() % 24);
    shape.octets = 4 + random() % (round % 2 == 0 ? 40 : 1000);
    shape.chunks = round % 3 == 0 ? 1 : 2 + random() % (round % 3 == 1 ? 8 : 100);
    if (shape.chunks == 1) shape.seed = static_cast<uint32_t>(random() % 16);
    shape.has_always_true_chunks = shape.chunks > 1 && round % 50 == 0;
    const bool all_narrow = round % 4 == 0;
    shape.narrow_segments =
        all_narrow ? shape.segments() : static_cast<uint64_t>(random()) % (shape.segments() + 1);
    if (round % 7 == 0) shape.narrow_segments = 0;
    const uint64_t payload_bytes = shape.PayloadBytes();
    if (shape.octets > payload_bytes || shape.chunks > payload_bytes) continue;
    ASSERT_FALSE(CheckRibbonShape(shape, payload_bytes));

    const GuardedBytes bytes(payload_bytes + kRibbonReadableTail);
    for (size_t i = 0; i < payload_bytes + kRibbonReadableTail; ++i) {
      bytes.data()[i] = static_cast<uint8_t>(random());
    }
    // Segments of zeros match fingerprints of zeros; otherwise many columns would never match.
    if (round % 5 == 0) std::memset(bytes.data(), 0, shape.SegmentBytes());

    const RibbonState state = MakeRibbonState(shape, bytes.data());
    std::vector<uint64_t> hashes(101 + random() % 100);
    for (uint64_t& hash : hashes) {
      hash = random() << (round % 5 == 0 ? 20 : 0);
      if (random() % 4 == 0) hash |= uint64_t{0xffffffff} << 32;  // the last chunk
    }
    std::vector<bool> expected;
    for (const uint64_t hash : hashes) {
      expected.push_back(
          PointFilter(RibbonOpsFor(Kernel::kScalar, shape), state).MayContainHash(hash));
      matches += expected.back();
    }
    for (const auto& [name, ops] : AllOps(shape)) {
      // Whole batches and a remainder.
      const auto batch = std::make_unique<bool[]>(hashes.size());
      const PointFilter filter(ops, state);
      filter.MayContainHashes(hashes, batch.get());
      for (size_t i = 0; i < hashes.size(); ++i) {
        ASSERT_EQ(filter.MayContainHash(hashes[i]), expected[i]) << name;
        ASSERT_EQ(batch[i], expected[i]) << name;
      }
    }
  }
  EXPECT_GT(matches, 1000u);
}

}  // namespace
}  // namespace blocksieve::internal
