#include "blocksieve/filter_block.h"

#include <cassert>

#include "lib/base/errors.h"
#include "lib/block/parts.h"
#include "lib/block/short_block.h"
#include "lib/bloom/blocked_bloom.h"
#include "lib/bloom/classic_block.h"
#include "lib/filter/format_of.h"
#include "lib/ribbon/block.h"

namespace blocksieve {

const internal::FilterFormat& internal::FormatOf(FilterKind kind) noexcept {
  switch (kind) {
    case FilterKind::kClassicBloom:
      return kClassicBloomFormat;
    case FilterKind::kCountingBloom:
      return kCountingBloomFormat;
    case FilterKind::kRibbon:
      return kRibbonFormat;
    case FilterKind::kBlockedBloom:
      break;
  }
  assert(kind == FilterKind::kBlockedBloom);
  return kBlockedBloomFormat;
}

Status internal::Describe(ByteView block, FilterInfo* info) try {
  const Result<BlockParts> parts = SplitBlock(block);
  if (!parts.ok()) return parts.status();
  return DescribePoints(parts->filter, info);
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

Status internal::DescribePoints(ByteView block, FilterInfo* info) try {
  if (LooksShort(block)) return ReadShortRibbon(block, info);
  Decoder fields({});
  Status status = ReadFooter(block, info, &fields);
  return status.ok() ? ReadLayoutFields(FormatOf(info->kind), &fields, info) : status;
} catch (const std::bad_alloc&) {
  return OutOfMemory();
}

Result<FilterInfo> DescribeFilterBlock(ByteView block) try {
  FilterInfo info;
  Status status = internal::Describe(block, &info);
  if (!status.ok()) return status;
  return info;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Status VerifyFilterBlock(ByteView block) try {
  const Result<internal::BlockParts> parts = internal::SplitBlock(block);
  if (!parts.ok()) return parts.status();
  FilterInfo info;
  Status status = internal::DescribePoints(parts->filter, &info);
  if (status.ok()) status = internal::CheckPayload(parts->filter, info);
  return status.ok() ? internal::CheckRanges(*parts) : status;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

double PredictedFpr(const FilterInfo& info) noexcept {
  return info.num_keys == 0 ? 0 : internal::FormatOf(info.kind).predicted_fpr(info);
}

}  // namespace blocksieve
