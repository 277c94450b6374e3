// SPDX-License-Identifier: Apache-2.0
#include "lib/ribbon/probe.h"

#include <cassert>

#include "lib/base/kernels.h"

namespace blocksieve::internal {
namespace {

// Bytes that kernels may read past the second segment of a window: they read at least eight
// columns, in multiples of four.
uint64_t OverreadBytes(const RibbonShape& shape) {
  const uint32_t max_columns = shape.max_columns();
  const uint32_t words_read = max_columns <= 8    ? 8
                              : max_columns <= 16 ? (max_columns + 3) / 4 * 4
                                                  : 28;
  return (words_read - shape.columns) * 8;
}

}  // namespace

RibbonState MakeRibbonState(const RibbonShape& shape, const uint8_t* payload) noexcept {
  assert(!CheckRibbonShape(shape, shape.PayloadBytes()));
  static_assert(sizeof(RibbonState) <= PointFilter::kMaxStateBytes);
  RibbonState state{};
  state.num_chunks = static_cast<uint32_t>(shape.chunks);
  state.narrow_segments = static_cast<uint32_t>(shape.narrow_segments);
  state.directory_or_chunk = shape.chunks == 1
                                 ? shape.octets | uint64_t{RibbonMultiplier(shape.seed, 0)} << 32
                                 : reinterpret_cast<uintptr_t>(payload) + shape.SegmentBytes();
  // If all segments are wide, their width is the first, which unmixed probes use.
  state.columns[0] = static_cast<uint8_t>(shape.columns + (shape.narrow_segments == 0 ? 1 : 0));
  state.columns[1] = static_cast<uint8_t>(shape.columns + 1);
  for (const size_t w : {size_t{0}, size_t{1}}) {
    state.strides[w] = static_cast<uint8_t>(8 * state.columns[w]);
  }
  // Each narrow segment before the wide ones is a word shorter than a wide one.
  state.origin[0] = reinterpret_cast<uintptr_t>(payload);
  state.origin[1] = state.origin[0] - shape.narrow_segments * 8;

  // Windows that lie in two whole segments, with enough readable bytes after them.
  const uint64_t whole = shape.octets / 8;
  uint64_t readable = shape.PayloadBytes() + kRibbonReadableTail - shape.SegmentBytes();
  if (shape.segments() > whole) readable += shape.octets % 8 * shape.max_columns();
  uint64_t unsafe = 1;
  while (unsafe < whole && readable < OverreadBytes(shape)) {
    readable += shape.columns * 8;
    ++unsafe;
  }
  state.fast_segments = static_cast<uint32_t>(whole > unsafe ? whole - unsafe : 0);
  return state;
}

const ProbeOps& RibbonOpsFor(Kernel kernel, const RibbonShape& shape) noexcept {
  assert(IsAvailable(kernel));
  const RibbonDirectory directory = shape.chunks == 1       ? RibbonDirectory::kNone
                                    : shape.BaseBytes() > 0 ? RibbonDirectory::kBased
                                                            : RibbonDirectory::kPlain;
  const auto pick = [&](const RibbonOps& ops) -> const ProbeOps& {
    return ops[static_cast<size_t>(directory)][shape.is_mixed()];
  };
  if (shape.has_always_true_chunks) {
    return directory == RibbonDirectory::kNone ? kEverythingMatches : kRibbonAlwaysTrueChunks;
  }
  [[maybe_unused]] const uint32_t columns = shape.max_columns();
  switch (kernel) {
#if defined(__x86_64__)
    case Kernel::kScalar:
      return pick(__builtin_cpu_supports("popcnt") ? kRibbonPopcnt : kRibbonScalar);
    case Kernel::kAvx2:
      if (columns <= 8) return pick(kRibbonAvx2By8);
      if (columns <= 12) return pick(kRibbonAvx2By12);
      return pick(columns <= 16 ? kRibbonAvx2By16 : kRibbonAvx2By28);
    case Kernel::kAvx512:
      if (columns <= 8) return pick(kRibbonAvx512By8);
      if (columns <= 12) return pick(kRibbonAvx512By12);
      return pick(columns <= 16 ? kRibbonAvx512By16 : kRibbonAvx512By28);
#elif defined(__aarch64__)
    case Kernel::kNeon:
      return pick(kRibbonNeon);
#endif
    default:
      return pick(kRibbonScalar);
  }
}

}  // namespace blocksieve::internal
