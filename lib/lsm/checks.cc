#include <string>

#include "blocksieve/sizing.h"
#include "lib/base/errors.h"
#include "lib/lsm/rate_allocation.h"
#include "lib/lsm/run_groups.h"

namespace blocksieve {
namespace {

Status CheckRange(const char* name, double value, double lowest, double highest) {
  if (value >= lowest && value <= highest) return Status::Ok();
  return internal::OutOfRange(name, value, lowest, highest);
}

}  // namespace

Status RateGoal::Check() const try {
  std::string given;
  int count = 0;
  const auto list = [&](const char* name, const std::optional<double>& value) {
    if (value) given += (count++ > 0 ? ", " : "") + (name + ("=" + internal::ShortestText(*value)));
  };
  list("target_fpr", target_fpr);
  list("wasted_reads", wasted_reads);
  list("bits_per_key", bits_per_key);
  if (count > 1) {
    return Status::InvalidArgument(given + " exclude each other; allowed: one of them");
  }
  if (seek_fraction) {
    if (!differs_by_run()) {
      return Status::InvalidArgument("seek_fraction=" + internal::ShortestText(*seek_fraction) +
                                     " needs wasted_reads or bits_per_key");
    }
    const Status status =
        CheckRange("seek_fraction", *seek_fraction, kMinSeekFraction, kMaxSeekFraction);
    if (!status.ok()) return status;
  }
  if (target_fpr) return CheckRange("target_fpr", *target_fpr, kMinTargetFpr, kMaxTargetFpr);
  if (wasted_reads) {
    return CheckRange("wasted_reads", *wasted_reads, kMinWastedReads, kMaxWastedReads);
  }
  return !bits_per_key ? Status::Ok()
                       : CheckRange("bits_per_key", *bits_per_key, kMinAllocatedBitsPerKey,
                                    kMaxAllocatedBitsPerKey);
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

Status lsm::CheckGroups(std::span<const RunGroup> groups) {
  for (const RunGroup& group : groups) {
    Status status = CheckRange("keys_per_run", group.keys_per_run, 0, 0x1p50);
    if (status.ok()) status = CheckRange("num_runs", group.num_runs, 0, 0x1p30);
    if (status.ok()) status = CheckRange("lookup_share", group.lookup_share, 0, 1);
    if (!status.ok()) return status;
  }
  if (NumKeys(groups) > 0) return Status::Ok();
  return Status::InvalidArgument("number of keys in all sorted runs is 0; allowed: 1 or more");
}

}  // namespace blocksieve
