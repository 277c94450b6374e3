#include "blocksieve/filter_reader.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "blocksieve/internal/kernels.h"
#include "lib/block/parts.h"
#include "lib/block/probe_loops.h"
#include "lib/filter/format_of.h"
#include "lib/hash/hash_inline.h"

namespace blocksieve {
void FilterReader::MayMatch(std::span<const std::string_view> keys,
                            bool* may_match) const noexcept {
  struct Slice {
    const char* data;
    size_t size;
  };
  std::array<Slice, internal::kProbeBatch> slices;
  std::array<const Slice*, internal::kProbeBatch> pointers;
  for (size_t first = 0; first < keys.size(); first += internal::kProbeBatch) {
    const auto batch = keys.subspan(first, std::min(keys.size() - first, internal::kProbeBatch));
    for (size_t i = 0; i < batch.size(); ++i) {
      slices[i] = {batch[i].data(), batch[i].size()};
      pointers[i] = &slices[i];
    }
    MayMatch(internal::KeyList(pointers.data()), batch.size(), may_match + first);
  }
}

FilterReader FilterReader::Open(ByteView block) noexcept { return Open(block, ActiveKernel()); }

FilterReader FilterReader::Open(ByteView block, Kernel kernel) noexcept {
  assert(internal::IsAvailable(kernel));
  FilterReader reader;
  FilterInfo info;
  block = internal::SplitBlockOrNot(block).filter;
  if (!internal::DescribePoints(block, &info).ok()) return reader;
  reader.view_.hash_seed = info.hash_seed;
  reader.view_.first_hash_flip = FirstHashFlip(info.hash_seed);
  reader.view_.last_hash_flip = LastHashFlip(info.hash_seed);
  if (info.num_keys == 0) {
    reader.ops_ = internal::kNothingMatches;
    reader.state_ = State::kEmpty;
    return reader;
  }
  reader.view_.data = block.data() + info.lead_bytes;
  reader.state_ = State::kReady;
  reader.ops_ = internal::FormatOf(info.kind).open(info, kernel, &reader.view_);
  return reader;
}

}  // namespace blocksieve
