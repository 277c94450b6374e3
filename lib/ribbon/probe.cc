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

constexpr uint8_t kNoBase[4] = {};

}  // namespace

RibbonView MakeRibbonView(const RibbonShape& shape, const uint8_t* payload) noexcept {
  assert(!CheckRibbonShape(shape, shape.PayloadBytes()));
  RibbonView view{};
  const uint8_t* directory = payload + shape.SegmentBytes();
  view.directory = directory;
  view.bases = shape.BaseBytes() > 0 ? directory + shape.DirectoryBytes() : kNoBase;
  view.num_chunks = shape.chunks;
  view.last_start = shape.slots() - kRibbonFold;
  view.narrow_segments = shape.narrow_segments;
  for (const size_t is_wide : {size_t{0}, size_t{1}}) {
    // If all segments are wide, their values are in the first element, which unmixed probes use.
    const uint64_t columns = shape.columns + (is_wide != 0 || shape.narrow_segments == 0 ? 1 : 0);
    view.stride[is_wide] = columns * 8;
    view.in_use[is_wide] = (uint32_t{1} << columns) - 1;
  }
  // Each narrow segment before the wide ones is a word shorter than a wide one.
  view.origin[0] = reinterpret_cast<uintptr_t>(payload);
  view.origin[1] = view.origin[0] - shape.narrow_segments * 8;
  view.max_in_use = (uint32_t{1} << shape.max_columns()) - 1;
  view.num_octets = shape.octets;
  const uint32_t max_columns = shape.max_columns();
  view.multiplier = RibbonMultiplier(shape.seed, 0);

  // Windows that lie in two whole segments, with enough readable bytes after them.
  const uint64_t whole = shape.octets / 8;
  uint64_t readable = shape.PayloadBytes() + kRibbonReadableTail - shape.SegmentBytes();
  if (shape.segments() > whole) readable += shape.octets % 8 * max_columns;
  uint64_t unsafe = 1;
  while (unsafe < whole && readable < OverreadBytes(shape)) {
    readable += shape.columns * 8;
    ++unsafe;
  }
  view.fast_segments = whole > unsafe ? whole - unsafe : 0;
  return view;
}

const ProbeOps& RibbonOpsFor(Kernel kernel, const RibbonShape& shape) noexcept {
  assert(IsAvailable(kernel));
  const RibbonDirectory directory = shape.chunks == 1       ? RibbonDirectory::kNone
                                    : shape.BaseBytes() > 0 ? RibbonDirectory::kBased
                                                            : RibbonDirectory::kPlain;
  const bool mixed = shape.narrow_segments > 0 && shape.has_wide_segments();
  const auto pick = [&](const RibbonOps& ops) -> const ProbeOps& {
    return ops[static_cast<size_t>(directory)][mixed];
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
