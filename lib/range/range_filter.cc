#include "lib/range/range_filter.h"

#include <cmath>
#include <cstring>

#include "lib/base/block_memory.h"
#include "lib/base/errors.h"
#include "lib/block/filter_info.h"
#include "lib/block/parts.h"
#include "lib/block/seal.h"
#include "lib/block/short_block.h"
#include "lib/range/range_part.h"

namespace blocksieve {
namespace {

/// Whether some possible key of the range passes the point filter, or there are too many possible
/// keys to look up.
bool CandidateMayMatch(const internal::KeyForm& form, std::string_view begin, std::string_view end,
                       const void* point_filter,
                       bool (*may_match)(const void*, std::string_view)) try {
  internal::CandidateKeys keys(form, begin, end);
  if (!keys.ok()) return true;
  for (int i = 0; i < RangeFilterReader::kMaxCandidates; ++i) {
    if (!keys.Next()) return false;
    if (may_match(point_filter, keys.key())) return true;
  }
  return keys.Next();
} catch (const std::bad_alloc&) {
  return true;
}

}  // namespace

Result<RangeFilterInfo> DescribeRangeFilter(ByteView block) try {
  const Result<internal::BlockParts> parts = internal::SplitBlock(block);
  if (!parts.ok()) return parts.status();
  if (parts->ranges.empty()) {
    if (internal::LooksShort(block)) {
      const Result<ByteView> sound = internal::ReadShortTail(block);
      if (!sound.ok()) return sound.status();
      return RangeFilterInfo();
    }
    const Result<internal::BlockTail> tail = internal::ReadTail(block);
    if (!tail.ok()) return tail.status();
    if (tail->version > kNewestBlockVersion) return internal::UnknownVersion(tail->version);
    return RangeFilterInfo();
  }
  internal::RangePart part;
  if (!internal::ReadRangePart(parts->ranges, &part)) {
    return Status::Corruption("filter block: ranges of " + std::to_string(parts->ranges.size()) +
                              " bytes are damaged");
  }
  part.info.bytes = block.size() - parts->filter.size() - parts->prefixes.size();
  return part.info;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

RangeFilterBuilder::RangeFilterBuilder(const RangePartOptions& options)
    : options_(options), keys_(std::make_unique<internal::SortedKeys>()) {}
RangeFilterBuilder::RangeFilterBuilder(RangeFilterBuilder&&) noexcept = default;
RangeFilterBuilder& RangeFilterBuilder::operator=(RangeFilterBuilder&&) noexcept = default;
RangeFilterBuilder::~RangeFilterBuilder() = default;

Result<RangeFilterBuilder> RangeFilterBuilder::Create(const RangePartOptions& options) try {
  if (!(options.range_fpr >= kMinRangeFpr && options.range_fpr <= kMaxRangeFpr)) {
    return internal::OutOfRange("range_fpr", options.range_fpr, kMinRangeFpr, kMaxRangeFpr);
  }
  if (!(options.max_estimated_fpr >= 0 && options.max_estimated_fpr <= 1)) {
    return internal::OutOfRange("max_estimated_fpr", options.max_estimated_fpr, 0, 1);
  }
  return RangeFilterBuilder(options);
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

void RangeFilterBuilder::AddKey(std::string_view key) noexcept try {
  if (!is_sorted_ || is_too_large_) return;
  is_sorted_ = keys_->Append(key);
  // Finish needs as much again: a code takes as much memory as the end of a key, and the filter
  // takes less than the keys.
  is_too_large_ =
      options_.max_build_bytes != 0 && 2 * keys_->num_bytes() > options_.max_build_bytes;
  if (!is_sorted_ || is_too_large_) keys_->Clear();
} catch (const std::bad_alloc&) {
  is_too_large_ = true;
  keys_->Clear();
}

uint64_t RangeFilterBuilder::memory_bytes() const noexcept { return keys_->num_bytes(); }

std::string RangeFilterBuilder::WhyNone() const {
  if (!is_sorted_) return "keys are not in bytewise order";
  if (is_too_large_) {
    return options_.max_build_bytes == 0 ? "out of memory"
                                         : "building takes more memory than max_build_bytes = " +
                                               std::to_string(options_.max_build_bytes);
  }
  return keys_->empty() ? "no keys" : "";
}

Status RangeFilterBuilder::Finish(OwnedBytes* filter_block, std::string_view prefixes) try {
  struct Reset {
    RangeFilterBuilder* builder;
    ~Reset() {
      builder->keys_->Clear();
      builder->is_sorted_ = true;
      builder->is_too_large_ = false;
    }
  } const reset{this};
  if (filter_block == nullptr) return Status::Ok();
  absent_reason_ = WhyNone();
  if (!absent_reason_.empty()) return internal::AppendParts(prefixes, "", filter_block);
  std::string ranges;
  const RangeFilterInfo info = internal::AppendRangePart(*keys_, options_, &ranges);
  if (info.estimated_fpr > options_.max_estimated_fpr) {
    absent_reason_ = "keys are too similar: estimated FPR of short ranges is " +
                     internal::ShortestText(std::round(1000 * info.estimated_fpr) / 1000) +
                     "; allowed: up to " + internal::ShortestText(options_.max_estimated_fpr);
    ranges.clear();
  }
  return internal::AppendParts(prefixes, ranges, filter_block);
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

RangeFilterReader RangeFilterReader::Open(ByteView block, Kernel kernel) noexcept {
  return OpenPart(internal::SplitBlockIfReadable(block).ranges, kernel);
}

RangeFilterReader RangeFilterReader::OpenPart(ByteView ranges, Kernel kernel) noexcept {
  RangeFilterReader reader;
  reader.ranges_ = ranges;
  reader.kernel_ = kernel;
  return reader;
}

RangeFilterReader::Answer RangeFilterReader::Query(std::string_view begin,
                                                   std::string_view end) const noexcept {
  return Query(begin, end, nullptr, nullptr);
}

RangeFilterReader::Answer RangeFilterReader::Query(std::string_view begin, std::string_view end,
                                                   const void* point_filter,
                                                   MayMatchPoint may_match) const {
  if (ranges_.empty() || begin >= end) return Answer::kMayMatch;
  internal::RangePart part;
  if (!internal::ReadRangePart(ranges_, &part)) return Answer::kMayMatch;
  if (part.tree.MayContain(begin, end, kernel_) &&
      (may_match == nullptr || CandidateMayMatch(part.form, begin, end, point_filter, may_match))) {
    return Answer::kMayMatch;
  }
  // A range whose end has a lower code than the last key does not extend past that key.
  if (part.info.is_whole_file || part.tree.code.Code(end, 0) < part.tree.last_code) {
    return Answer::kNo;
  }
  return Answer::kBeyond;
}

}  // namespace blocksieve
