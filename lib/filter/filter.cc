// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/filter.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <new>
#include <optional>
#include <utility>

#include "lib/base/errors.h"
#include "lib/base/kernels.h"
#include "lib/block/footer.h"
#include "lib/block/probe_loops.h"
#include "lib/filter/families.h"
#include "lib/prefix/prefix_part.h"
#include "lib/range/range_filter.h"

namespace blocksieve {

/// What a filter has besides its points: the head of each section, read once.
struct internal::FilterBody {
  OwnedBytes block;  // if Filter::Build made it
  PrefixView prefixes;
  std::optional<PointFilter> prefix_points;  // if they hold prefixes alone
  RangeFilterReader ranges;
};

Filter Filter::Open(ByteView block) noexcept { return internal::OpenFilter(block, ActiveKernel()); }

Filter internal::OpenFilter(ByteView block, Kernel kernel) noexcept {
  assert(IsAvailable(kernel));
  Filter filter;
  Footer footer;
  // An empty filter answers "no" to every key, so the flag counts only with a known kind.
  if (ParseFooter(block, &footer) || !IsFamily(footer.kind)) return filter;
  if (footer.is_empty()) {
    filter.points_ = PointFilter(kNothingMatches, std::byte());
    filter.state_ = Filter::State::kEmpty;
    return filter;
  }
  const Problem problem = VisitFamily(
      footer.kind, [&](auto family) { return family.Open(footer, kernel, &filter.points_); });
  if (problem) return filter;
  filter.state_ = Filter::State::kReady;
  if (footer.prefixes.empty() && footer.ranges.empty()) [[likely]]
    return filter;
  const PointFilter points = filter.points_;
  if (!footer.holds_keys) [[unlikely]]
    filter.points_ = PointFilter();
  try {
    auto body = std::make_shared<FilterBody>();
    body->prefixes = ReadPrefixPart(footer.prefixes);
    if (!footer.holds_keys) [[unlikely]]
      body->prefix_points = points;
    body->ranges = RangeFilterReader::OpenSection(footer.ranges, kernel);
    filter.answers_ranges_ = !body->prefixes.rule().empty() || body->ranges.is_ready();
    filter.body_ = std::move(body);
  } catch (const std::bad_alloc&) {
    // All ranges may match.
  }
  return filter;
}

Result<Filter> Filter::Own(OwnedBytes block) try {
  Filter filter = Open(block.view());
  auto body = std::make_shared<internal::FilterBody>();
  if (filter.body_ != nullptr) {
    body->prefixes = filter.body_->prefixes;
    body->prefix_points = filter.body_->prefix_points;
    body->ranges = filter.body_->ranges;
  }
  body->block = std::move(block);
  filter.body_ = std::move(body);
  return filter;
} catch (const std::bad_alloc&) {
  return internal::OutOfMemory();
}

ByteView Filter::bytes() const noexcept {
  return body_ == nullptr ? ByteView() : body_->block.view();
}

size_t Filter::memory_bytes() const noexcept {
  constexpr size_t kReferenceCounts = 16;
  return body_ == nullptr ? 0 : sizeof(*body_) + kReferenceCounts + body_->block.size;
}

void PointFilter::MayContain(std::span<const std::string_view> keys,
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
    MayContain(KeyList(pointers.data()), batch.size(), may_match + first);
  }
}

RangeAnswer Filter::QueryRange(std::string_view begin, std::string_view end) const noexcept {
  if (!answers_ranges_) return RangeAnswer::kMayMatch;
  const PointFilter& prefix_points = body_->prefix_points ? *body_->prefix_points : points_;
  const RangeAnswer answer =
      body_->prefixes.rule().empty()
          ? RangeAnswer::kMayMatch
          : internal::QueryPrefixes(body_->prefixes, prefix_points, begin, end);
  if (!body_->ranges.is_ready() || answer == RangeAnswer::kNo) return answer;
  const RangeAnswer of_ranges = body_->ranges.Query(begin, end, &points_);
  return of_ranges == RangeAnswer::kMayMatch ? answer : of_ranges;
}

}  // namespace blocksieve
