#include "blocksieve/filter.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <type_traits>
#include <utility>

#include "lib/base/errors.h"
#include "lib/base/kernels.h"
#include "lib/block/footer.h"
#include "lib/block/probe_loops.h"
#include "lib/filter/families.h"
#include "lib/filter/filter_access.h"
#include "lib/prefix/prefix_part.h"
#include "lib/range/range_filter.h"

namespace blocksieve {

Filter::Filter() noexcept { SetOps(internal::kEverythingMatches); }

Filter Filter::Open(ByteView block) noexcept {
  return internal::FilterAccess::Open(block, ActiveKernel());
}

Filter internal::FilterAccess::Open(ByteView block, Kernel kernel) noexcept {
  assert(IsAvailable(kernel));
  Filter filter;
  filter.bytes_ = block;
  static_assert(sizeof(FilterView) <= sizeof(filter.view_) &&
                alignof(FilterView) <= alignof(uint64_t) &&
                std::is_trivially_copyable_v<FilterView>);
  FilterView& view = *reinterpret_cast<FilterView*>(filter.view_.data());
  Footer footer;
  // An empty filter answers "no" to every key, so the flag counts only with a known kind.
  if (ParseFooter(block, &footer) || !IsFamily(footer.kind)) return filter;
  if (footer.is_empty()) {
    filter.SetOps(kNothingMatches);
    filter.state_ = Filter::State::kEmpty;
    return filter;
  }
  const Problem problem =
      VisitFamily(footer.kind, [&](auto family) { return family.Open(footer, kernel, &view); });
  if (problem) return filter;
  view.prefixes = ReadPrefixPart(footer.prefixes);
  view.ranges = footer.ranges;
  filter.state_ = Filter::State::kReady;
  filter.SetOps(*view.ops);
  return filter;
}

Result<Filter> Filter::Own(OwnedBytes block) try {
  Filter filter = Open(block.view());
  filter.memory_ = std::move(block.memory);
  return filter;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

void Filter::MayContain(std::span<const std::string_view> keys, bool* may_match) const noexcept {
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
    internal::FilterAccess::MayContain(*this, KeyList(pointers.data()), batch.size(),
                                       may_match + first);
  }
}

bool Filter::MayContainRange(std::string_view begin, std::string_view end) const noexcept {
  return internal::FilterAccess::QueryRange(*this, begin, end) != RangeAnswer::kNo;
}

bool internal::FilterAccess::AnswersRanges(const Filter& filter) noexcept {
  return !filter.view().prefixes.rule().empty() || !filter.view().ranges.empty();
}

RangeAnswer internal::FilterAccess::QueryRange(const Filter& filter, std::string_view begin,
                                               std::string_view end) noexcept {
  const FilterView& view = filter.view();
  const RangeAnswer answer =
      view.prefixes.rule().empty() ? RangeAnswer::kMayMatch : QueryPrefixes(view, begin, end);
  if (view.ranges.empty() || answer == RangeAnswer::kNo) return answer;
  const RangeAnswer of_ranges =
      RangeFilterReader::OpenSection(view.ranges).Query(begin, end, [&](std::string_view key) {
        return filter.MayContain(key);
      });
  return of_ranges == RangeAnswer::kMayMatch ? answer : of_ranges;
}

void Filter::SetOps(const internal::ProbeOps& ops) noexcept {
  may_match_key_ = ops.may_match_key;
  may_match_hash_ = ops.may_match_hash;
  may_match_hashes_ = ops.may_match_hashes;
  ops_ = &ops;
}

}  // namespace blocksieve
