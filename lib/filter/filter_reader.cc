#include "blocksieve/filter_reader.h"

#include <algorithm>

#include "blocksieve/filter_block.h"
#include "lib/block/probe_loops.h"
#include "lib/bloom/blocked_bloom.h"
#include "lib/bloom/classic_probe.h"
#include "lib/hash/hash_inline.h"
#include "lib/ribbon/footer.h"
#include "lib/ribbon/probe.h"
#include "lib/ribbon/view.h"

namespace blocksieve {
namespace internal {
namespace {

template <bool answer>
bool AnswerKey(const FilterView&, std::string_view) noexcept {
  return answer;
}
template <bool answer>
bool AnswerHash(const FilterView&, uint64_t) noexcept {
  return answer;
}
template <bool answer>
void AnswerHashes(const FilterView&, const uint64_t*, size_t num_hashes, bool* may_match) noexcept {
  std::fill_n(may_match, num_hashes, answer);
}

}  // namespace

const ProbeOps kNothingMatches = {&AnswerKey<false>, &AnswerHash<false>, &AnswerHashes<false>};
const ProbeOps kEverythingMatches = {&AnswerKey<true>, &AnswerHash<true>, &AnswerHashes<true>};

const ProbeOps& OpsFor(FilterKind kind, Kernel kernel) noexcept {
  if (kind == FilterKind::kClassicBloom) return kClassicBloomProbes;
  if (kind == FilterKind::kCountingBloom) return kCountingBloomProbes;
  if (kind != FilterKind::kBlockedBloom) return kEverythingMatches;
  switch (kernel) {
#if defined(__x86_64__)
    case Kernel::kAvx2:
      return kBlockedBloomAvx2;
    case Kernel::kAvx512:
      return kBlockedBloomAvx512;
#elif defined(__aarch64__)
    case Kernel::kNeon:
      return kBlockedBloomNeon;
#endif
    default:
      return kBlockedBloomScalar;
  }
}

}  // namespace internal

void FilterReader::MayMatch(std::span<const std::string_view> keys,
                            bool* may_match) const noexcept {
  uint64_t hashes[internal::kProbeBatch];
  for (size_t first = 0; first < keys.size(); first += internal::kProbeBatch) {
    const auto batch = keys.subspan(first, std::min(keys.size() - first, internal::kProbeBatch));
    for (size_t i = 0; i < batch.size(); ++i) hashes[i] = HashKeyInline(batch[i], hash_seed());
    ops_.may_match_hashes(view_, hashes, batch.size(), may_match + first);
  }
}

FilterReader FilterReader::Open(ByteView block) noexcept { return Open(block, ActiveKernel()); }

FilterReader FilterReader::Open(ByteView block, Kernel kernel) noexcept {
  FilterReader reader;
  const Result<FilterInfo> info = DescribeFilterBlock(block);
  if (!info.ok()) return reader;
  reader.view_.hash_seed = info->hash_seed;
  reader.view_.first_hash_flip = FirstHashFlip(info->hash_seed);
  reader.view_.last_hash_flip = LastHashFlip(info->hash_seed);
  if (info->num_keys == 0) {
    reader.ops_ = internal::kNothingMatches;
    reader.state_ = State::kEmpty;
    return reader;
  }
  reader.view_.data = block.data() + info->lead_bytes;
  reader.state_ = State::kReady;
  if (info->kind == FilterKind::kRibbon) {
    const internal::RibbonShape shape = internal::ShapeOf(*info);
    reader.view_.ribbon = internal::MakeRibbonView(shape, reader.view_.data);
    reader.ops_ = internal::RibbonOpsFor(kernel, shape);
    return reader;
  }
  if (info->kind != FilterKind::kBlockedBloom) {
    reader.view_.classic_bloom = {
        .num_cells = info->num_cells, .num_probes = info->num_probes, .cell_bits = info->cell_bits};
    reader.ops_ = internal::OpsFor(info->kind, kernel);
    return reader;
  }
  reader.view_.blocked_bloom = {
      .num_lines = (info->payload_bytes - info->lead_bytes) / internal::kLineBytes,
      .num_probes = info->num_probes,
      .probe_mask = static_cast<uint16_t>((1u << info->num_probes) - 1)};
  reader.ops_ = internal::OpsFor(info->kind, kernel);
  return reader;
}

}  // namespace blocksieve
