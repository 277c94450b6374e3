// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/filter.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <new>
#include <optional>

#include "lib/base/altered_answers.h"
#include "lib/base/errors.h"
#include "lib/base/kernels.h"
#include "lib/block/footer.h"
#include "lib/block/probe_loops.h"
#include "lib/filter/kinds.h"
#include "lib/prefix/prefix_section.h"
#include "lib/range/range_filter.h"

namespace blocksieve {
namespace {

using internal::Footer;
using internal::Problem;

// The footer, and the points if there are keys. An empty filter answers "no" to every key, so the
// flag counts only with a known kind.
Problem OpenPoints(ByteView block, Kernel kernel, Footer* footer, PointFilter* points) noexcept {
  const Problem problem = internal::ParseFooter(block, footer);
  if (problem) return problem;
  if (!internal::IsKind(footer->kind)) return {"kind is unknown to this library", true};
  if (footer->is_empty()) return {};
  return internal::VisitKind(footer->kind,
                             [&](auto impl) { return impl.Open(*footer, kernel, points); });
}

Status DescribePrefixes(ByteView section, FilterDescription* description) {
  const internal::PrefixView part =
      internal::ReadPrefixSection(section, &description->num_prefixes);
  if (!part.rule().empty()) description->prefix_rule = internal::PrefixRuleText(part.rule());
  if (description->prefix_rule.empty()) {
    return internal::ToStatus({"prefixes or their rule cannot be read"});
  }
  description->prefix_bytes = section.size();
  description->prefix_lookups = part.num_lookups;
  // A block may be damaged.
  const uint64_t num_hashes = description->num_keys;
  const uint64_t max_prefixes = num_hashes / part.num_lookups;
  description->num_prefix_hashes =
      part.num_lookups * std::min(description->num_prefixes, max_prefixes);
  description->num_keys -= description->num_prefix_hashes;
  return Status::Ok();
}

}  // namespace

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
  if (OpenPoints(block, kernel, &footer, &filter.parts_.points)) return filter;
  if (AlteredAnswers() == Answers::kMayMatch) {
    filter.parts_.points = PointFilter();
    filter.parts_.state = Filter::State::kReady;
    return filter;
  }
  if (footer.is_empty()) {
    filter.parts_.points = PointFilter(kNothingMatches, std::byte());
    filter.parts_.state = Filter::State::kEmpty;
    return filter;
  }
  filter.parts_.state = Filter::State::kReady;
  if (AlteredAnswers() == Answers::kLost) {
    filter.parts_.points = PointFilter(kNothingMatches, std::byte());
  }
  if (footer.prefixes.empty() && footer.ranges.empty()) [[likely]]
    return filter;
  const PointFilter points = filter.parts_.points;
  if (!footer.holds_keys) [[unlikely]]
    filter.parts_.points = PointFilter();
  try {
    auto body = std::make_shared<FilterBody>();
    body->prefixes = ReadPrefixSection(footer.prefixes);
    if (!footer.holds_keys) [[unlikely]]
      body->prefix_points = points;
    body->ranges = RangeFilterReader::OpenSection(footer.ranges, kernel);
    filter.parts_.answers_ranges = !body->prefixes.rule().empty() || body->ranges.is_ready();
    filter.parts_.body = std::move(body);
  } catch (const std::bad_alloc&) {
    // All ranges may match.
  }
  return filter;
}

Result<Filter> Filter::Own(OwnedBytes block) try {
  Filter filter = Open(block.view());
  auto body = std::make_shared<internal::FilterBody>();
  if (filter.parts_.body != nullptr) {
    body->prefixes = filter.parts_.body->prefixes;
    body->prefix_points = filter.parts_.body->prefix_points;
    body->ranges = filter.parts_.body->ranges;
  }
  body->block = std::move(block);
  filter.parts_.owns_block = true;
  filter.parts_.body = std::move(body);
  return filter;
}
BLOCKSIEVE_CATCH_BAD_ALLOC

ByteView Filter::bytes() const noexcept {
  return parts_.body == nullptr ? ByteView() : parts_.body->block.view();
}

size_t Filter::memory_bytes() const noexcept {
  constexpr size_t kReferenceCounts = 16;
  return parts_.body == nullptr ? 0
                                : sizeof(*parts_.body) + kReferenceCounts + parts_.body->block.size;
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
  if (!parts_.answers_ranges) return RangeAnswer::kMayMatch;
  if (internal::AlteredAnswers() == internal::Answers::kLost) return RangeAnswer::kNo;
  const PointFilter& prefix_points =
      parts_.body->prefix_points ? *parts_.body->prefix_points : parts_.points;
  const RangeAnswer answer =
      parts_.body->prefixes.rule().empty()
          ? RangeAnswer::kMayMatch
          : internal::QueryPrefixes(parts_.body->prefixes, prefix_points, begin, end);
  if (!parts_.body->ranges.is_ready() || answer == RangeAnswer::kNo) return answer;
  const RangeAnswer of_ranges = parts_.body->ranges.Query(begin, end, &parts_.points);
  return of_ranges == RangeAnswer::kMayMatch ? answer : of_ranges;
}

Result<FilterDescription> DescribeFilter(ByteView block) try {
  Footer footer;
  PointFilter points;
  const Problem problem = OpenPoints(block, Kernel::kScalar, &footer, &points);
  if (problem) return ToStatus(problem);
  FilterDescription description{.kind = footer.kind, .block_bytes = block.size()};
  if (footer.is_empty()) {
    description.predicted_fpr = 0;
    return description;
  }
  internal::VisitKind(footer.kind, [&](auto impl) { impl.Describe(footer, &description); });
  if (!footer.prefixes.empty()) {
    BLOCKSIEVE_RETURN_IF_ERROR(DescribePrefixes(footer.prefixes, &description));
  }
  if (!footer.ranges.empty()) {
    const RangeFilterReader ranges = RangeFilterReader::OpenSection(footer.ranges);
    if (!ranges.is_ready()) return internal::ToStatus({"ranges cannot be read"});
    description.range_bytes = ranges.info().bytes;
    description.num_range_keys = ranges.info().num_keys;
    description.estimated_range_fpr = ranges.info().estimated_fpr;
  }
  return description;
}
BLOCKSIEVE_CATCH_BAD_ALLOC

Status Filter::Verify(ByteView block) try {
  Footer footer;
  PointFilter points;
  Problem problem = OpenPoints(block, Kernel::kScalar, &footer, &points);
  if (!problem) problem = internal::VerifySections(footer);
  return problem ? ToStatus(problem) : Status::Ok();
}
BLOCKSIEVE_CATCH_BAD_ALLOC

}  // namespace blocksieve
