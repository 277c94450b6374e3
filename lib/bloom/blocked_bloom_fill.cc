#include "lib/bloom/blocked_bloom_fill.h"

#include "lib/base/coding.h"

namespace blocksieve::internal {
namespace {

template <uint32_t num_probes>
struct ScalarFill {
  static void Fill(std::span<const uint64_t> hashes, uint64_t num_lines, uint8_t* lines) {
    ForEachLine(hashes, num_lines, lines, [](uint8_t* line, uint32_t pattern) {
#pragma GCC unroll 16
      for (uint32_t j = 0; j < num_probes; ++j) {
        const uint32_t position = (pattern * kPatternFactors[j]) >> 23;
        uint8_t* word = line + position / 64 * 8;
        StoreLittleEndian(word, LoadLittleEndian<uint64_t>(word) | uint64_t{1} << (position % 64));
      }
    });
  }
};

constexpr std::array<FillFunction, kMaxBloomProbes> kScalarFill = FillTable<ScalarFill>();

}  // namespace

// AVX2 fills with scalar code: it needs two registers for a line, and gains nothing.
FillFunction BlockedBloomFill(Kernel kernel, uint32_t num_probes) noexcept {
#if defined(__x86_64__)
  if (kernel == Kernel::kAvx512) return kBlockedBloomFillAvx512[num_probes - 1];
#endif
  static_cast<void>(kernel);
  return kScalarFill[num_probes - 1];
}

}  // namespace blocksieve::internal
