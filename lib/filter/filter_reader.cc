#include "blocksieve/filter.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <type_traits>

#include "lib/base/errors.h"
#include "lib/base/kernels.h"
#include "lib/block/kind.h"
#include "lib/block/parts.h"
#include "lib/block/probe_loops.h"
#include "lib/hash/hash_inline.h"

namespace blocksieve {
namespace {

bool IsReadable(ByteView block, FilterInfo* info) noexcept try {
  return internal::ReadFooter(block, info).ok();
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace

FilterReader::FilterReader() noexcept { SetOps(internal::kEverythingMatches); }

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
    MayMatch(KeyList(pointers.data()), batch.size(), may_match + first);
  }
}

FilterReader FilterReader::Open(ByteView block, Kernel kernel) noexcept {
  assert(internal::IsAvailable(kernel));
  FilterReader reader;
  FilterInfo info;
  block = internal::SplitBlockOrNot(block).filter;
  if (!IsReadable(block, &info)) return reader;
  static_assert(sizeof(View) <= sizeof(view_) && alignof(View) <= alignof(uint64_t) &&
                std::is_trivially_copyable_v<View>);
  View& view = *reinterpret_cast<View*>(reader.view_.data());
  view.hash_seed = info.hash_seed;
  view.first_hash_flip = FirstHashFlip(info.hash_seed);
  view.last_hash_flip = LastHashFlip(info.hash_seed);
  if (info.num_keys == 0) {
    reader.SetOps(internal::kNothingMatches);
    reader.state_ = State::kEmpty;
    return reader;
  }
  view.data = block.data() + info.lead_bytes;
  reader.state_ = State::kReady;
  reader.SetOps(internal::FindKind(info.kind)->format.open(info, kernel, &view));
  return reader;
}

uint64_t FilterReader::hash_seed() const noexcept { return view().hash_seed; }

void FilterReader::SetOps(const internal::ProbeOps& ops) noexcept {
  may_match_key_ = ops.may_match_key;
  may_match_hash_ = ops.may_match_hash;
  may_match_hashes_ = ops.may_match_hashes;
  may_match_keys_ = ops.may_match_keys;
}

}  // namespace blocksieve
