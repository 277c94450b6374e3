// SPDX-License-Identifier: Apache-2.0

#include "lib/ribbon/probe.h"
#include "lib/ribbon/staged_probe_loops.h"

namespace blocksieve::internal {
namespace {

#if defined(__x86_64__)
#define BLOCKSIEVE_POPCNT __attribute__((target("popcnt")))
#else
#define BLOCKSIEVE_POPCNT
#endif

/// The parities of the first columns.
BLOCKSIEVE_INLINE uint32_t WordParities(const RibbonState& ribbon, const RibbonWindow& window,
                                        uint64_t num_columns) noexcept {
  // The words of the last segment may be shorter, and no segment follows it. Bits loaded past the
  // end of a word have no coefficient.
  const uint64_t segment = window.start / kRibbonSegment;
  const uint64_t num_octets = ribbon.num_octets();
  const uint64_t first_bytes = std::min<uint64_t>(8, num_octets - segment * 8);
  const uint64_t octets_behind = num_octets - segment * 8 - first_bytes;
  const uint64_t second_bytes = std::min<uint64_t>(8, octets_behind);
  const uint64_t slots_left = num_octets * kRibbonOctet - window.start;
  const uint64_t exist = slots_left < 64 ? (uint64_t{1} << slots_left) - 1 : ~uint64_t{0};
  RibbonWindow within = window;
  within.coefficients &= exist;
  const uint64_t first = FirstCoefficients(within);
  const uint64_t second = SecondCoefficients(within);
  const uint8_t* a = window.segment;
  const uint8_t* b = second_bytes > 0 ? a + window.stride : a;
  uint32_t parities = 0;
  for (uint32_t j = 0; j < num_columns; ++j) {
    const uint64_t bits = (LoadLittleEndian<uint64_t>(a + j * first_bytes) & first) ^
                          (LoadLittleEndian<uint64_t>(b + j * second_bytes) & second);
    parities |= static_cast<uint32_t>(__builtin_parityll(bits)) << j;
  }
  return parities;
}

BLOCKSIEVE_INLINE bool ProbeWords(const RibbonState& view, const RibbonWindow& window) noexcept {
  const uint32_t parities = WordParities(view, window, window.stride / 8);
  return ((parities ^ RibbonFingerprint(window.hash)) & window.in_use) == 0;
}

/// The parities of columns 4 * quad to 4 * quad + 3, some of which may not exist.
BLOCKSIEVE_INLINE uint32_t QuadParities(const RibbonWindow& window, uint64_t low, uint64_t high,
                                        uint32_t quad) noexcept {
  const uint8_t* a = window.segment + 32 * quad;
  const uint8_t* b = a + window.stride;
  const auto parity = [&](size_t j) __attribute__((always_inline)) {
    return static_cast<uint32_t>(
        __builtin_parityll((LoadLittleEndian<uint64_t>(a + 8 * j) & low) ^
                           (LoadLittleEndian<uint64_t>(b + 8 * j) & high)));
  };
  return parity(0) | parity(1) << 1 | parity(2) << 2 | parity(3) << 3;
}

/// Four columns without a branch, then the rest, only for the sixteenth of absent keys that pass:
/// without vectors, columns dominate the cost.
struct Scalar {
  BLOCKSIEVE_RIBBON_BATCH()
  BLOCKSIEVE_RIBBON_KEY_BATCH()

  static BLOCKSIEVE_INLINE bool Probe(const RibbonState& view,
                                      const RibbonWindow& window) noexcept {
    if (!IsFastWindow(view, window)) [[unlikely]]
      return ProbeRibbonAnywhere(view, window.hash);
    const uint64_t low = FirstCoefficients(window);
    const uint64_t high = SecondCoefficients(window);
    const auto fingerprint = RibbonFingerprint(window.hash);
    uint32_t wrong = (QuadParities(window, low, high, 0) ^ fingerprint) & window.in_use & 15;
    if (wrong != 0) return false;
    for (uint32_t quad = 1; window.in_use >> (4 * quad) != 0; ++quad) {
      const uint32_t parities = QuadParities(window, low, high, quad);
      wrong |= (parities ^ (fingerprint >> (4 * quad))) & (window.in_use >> (4 * quad)) & 15;
    }
    return wrong == 0;
  }
};

/// Calls `visit` with the form of the directory.
template <class Visit>
BLOCKSIEVE_INLINE auto WithDirectory(const RibbonState& view, const Visit& visit) noexcept {
  using Form = RibbonDirectory;
  if (view.num_chunks == 1) return visit(std::integral_constant<Form, Form::kNone>());
  if (view.num_chunks <= kRibbonGroup) return visit(std::integral_constant<Form, Form::kPlain>());
  return visit(std::integral_constant<Form, Form::kBased>());
}

/// For filters with always-true chunks: chunks without slots match everything.
BLOCKSIEVE_INLINE bool ProbeWithAlwaysTrue(const RibbonState& view, uint64_t hash) noexcept {
  return WithDirectory(view, [&](auto form) {
    return ReadRibbonChunk<form.value>(view, hash).num_octets == 0 ||
           ProbeWords(view, LocateRibbonAnywhere<form.value>(view, hash));
  });
}
BLOCKSIEVE_INLINE void Fetch(const RibbonState&, uint64_t) noexcept {}
BLOCKSIEVE_INLINE bool IsNear(const RibbonState&) noexcept { return true; }

}  // namespace

__attribute__((noinline)) bool ProbeRibbonAnywhere(const RibbonState& view,
                                                   uint64_t hash) noexcept {
  return WithDirectory(view, [&](auto form) {
    return ProbeWords(view, LocateRibbonAnywhere<form.value>(view, hash));
  });
}

uint32_t ReadRibbon(const RibbonState& view, uint64_t hash, uint32_t num_columns) noexcept {
  return WithDirectory(view, [&](auto form) {
    return WordParities(view, LocateRibbonAnywhere<form.value>(view, hash), num_columns);
  });
}

void PrefetchRibbon(const RibbonState& view, uint64_t hash) noexcept {
  WithDirectory(view, [&](auto form) {
    const RibbonWindow window = LocateRibbonAnywhere<form.value>(view, hash);
    __builtin_prefetch(window.segment);
    __builtin_prefetch(window.segment + window.stride);
  });
}

BLOCKSIEVE_RIBBON_OPS(kRibbonScalar, Scalar, )
BLOCKSIEVE_RIBBON_OPS(kRibbonPopcnt, Scalar, BLOCKSIEVE_POPCNT)
BLOCKSIEVE_PROBE_OPS(kRibbonAlwaysTrueChunks, RibbonState, ProbeWithAlwaysTrue, )

}  // namespace blocksieve::internal
