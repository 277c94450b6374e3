#include "lib/ribbon_view.h"

#include <algorithm>
#include <string>

#include "lib/coding.h"
#include "lib/ribbon_probe.h"

namespace blocksieve::internal {
namespace {

// Bytes behind the second segment of a window that a kernel may read: AVX2 takes eight words at a
// time, or twelve at the end.
uint64_t OverreadBytes(const RibbonShape& shape) {
  const uint32_t most_columns = shape.most_columns();
  const uint32_t words_read = most_columns <= 16 ? (most_columns + 7) / 8 * 8 : 28;
  return (words_read - shape.columns) * 8;
}

constexpr uint8_t kNoBase[4] = {};

}  // namespace

Status CheckRibbonShape(const RibbonShape& shape, uint64_t payload_bytes) {
  if (shape.columns < 1 || shape.columns > kMaxRibbonColumns) {
    return Status::Corruption("filter block: ribbon columns are " + std::to_string(shape.columns) +
                              "; allowed is 1 to " + std::to_string(kMaxRibbonColumns));
  }
  // Bounds first, so that no product below overflows.
  const bool plausible =
      shape.octets >= kMinRibbonOctets && shape.octets <= payload_bytes && shape.chunks >= 1 &&
      shape.chunks <= payload_bytes && shape.narrow_segments <= shape.segments() &&
      (shape.chunks > 1 ? shape.seed == 0
                        : shape.seed < kRibbonSeeds && shape.octets <= kRibbonEntryMask &&
                              !shape.has_open_chunks) &&
      payload_bytes < uint64_t{1} << 40;
  if (!plausible || shape.PayloadBytes() != payload_bytes) {
    return Status::Corruption("filter block: a payload of " + std::to_string(payload_bytes) +
                              " bytes is no ribbon of " + std::to_string(shape.octets) +
                              " octets in " + std::to_string(shape.chunks) + " chunks with " +
                              std::to_string(shape.narrow_segments) + " narrow segments");
  }
  return Status::Ok();
}

RibbonView MakeRibbonView(const RibbonShape& shape, const uint8_t* payload) noexcept {
  RibbonView view{};
  const uint8_t* directory = payload + shape.SegmentBytes();
  view.directory = directory;
  view.bases = shape.BaseBytes() > 0 ? directory + shape.DirectoryBytes() : kNoBase;
  view.num_chunks = shape.chunks;
  view.last_start = shape.slots() - kRibbonFold;
  view.narrow_segments = shape.narrow_segments;
  view.num_octets = shape.octets;
  view.columns = shape.columns;
  const uint32_t most_columns = shape.most_columns();
  view.column_quads = (most_columns + 3) / 4;
  view.rotation = RibbonRotation(shape.seed, 0);

  // Windows that lie in two whole segments, with enough readable bytes behind them.
  const uint64_t whole = shape.octets / 8;
  uint64_t readable = shape.PayloadBytes() + kRibbonReadableTail - shape.SegmentBytes();
  if (shape.segments() > whole) readable += shape.octets % 8 * most_columns;
  uint64_t unsafe = 1;
  while (unsafe < whole && readable < OverreadBytes(shape)) {
    readable += shape.columns * 8;
    ++unsafe;
  }
  view.fast_segments = whole > unsafe ? whole - unsafe : 0;
  return view;
}

const ProbeOps& RibbonOpsFor(Kernel kernel, const RibbonShape& shape) noexcept {
  const bool one = shape.chunks == 1;
  if (shape.has_open_chunks) return one ? kEverythingMatches : kRibbonScalarWithOpenChunks;
  const uint32_t columns = shape.most_columns();
  switch (kernel) {
#if defined(__x86_64__)
    case Kernel::kAvx2:
      if (columns <= 8) return one ? kRibbonAvx2By8OneChunk : kRibbonAvx2By8;
      if (columns <= 16) return one ? kRibbonAvx2By16OneChunk : kRibbonAvx2By16;
      return one ? kRibbonAvx2By28OneChunk : kRibbonAvx2By28;
    case Kernel::kAvx512:
      if (columns <= 8) return one ? kRibbonAvx512By8OneChunk : kRibbonAvx512By8;
      if (columns <= 16) return one ? kRibbonAvx512By16OneChunk : kRibbonAvx512By16;
      return one ? kRibbonAvx512By32OneChunk : kRibbonAvx512By32;
#elif defined(__aarch64__)
    case Kernel::kNeon:
      return one ? kRibbonNeonOneChunk : kRibbonNeon;
#endif
    default:
      return one ? kRibbonScalarOneChunk : kRibbonScalar;
  }
}

}  // namespace blocksieve::internal
