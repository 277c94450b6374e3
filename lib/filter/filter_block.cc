#include "blocksieve/filter.h"

#include "lib/base/errors.h"
#include "lib/block/kind.h"
#include "lib/block/parts.h"

namespace blocksieve {

Result<FilterInfo> DescribeFilterBlock(ByteView block) try {
  const Result<internal::BlockParts> parts = internal::SplitBlock(block);
  if (!parts.ok()) return parts.status();
  FilterInfo info;
  Status status = internal::ReadFooter(parts->filter, &info);
  if (!status.ok()) return status;
  return info;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Status Filter::Verify(ByteView block) try {
  const Result<internal::BlockParts> parts = internal::SplitBlock(block);
  if (!parts.ok()) return parts.status();
  FilterInfo info;
  Status status = internal::ReadFooter(parts->filter, &info);
  if (status.ok()) status = internal::CheckPayload(parts->filter, info);
  return status.ok() ? internal::CheckParts(*parts) : status;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

double PredictedFpr(const FilterInfo& info) noexcept {
  return info.num_keys == 0 ? 0 : internal::FindKind(info.kind)->format.predicted_fpr(info);
}

}  // namespace blocksieve
