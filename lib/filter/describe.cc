// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/filter.h"
#include "lib/base/errors.h"
#include "lib/filter/kinds.h"
#include "lib/prefix/prefix_section.h"
#include "lib/range/range_filter.h"

// What a block holds, and whether it is sound.

namespace blocksieve {
namespace {

using internal::Footer;
using internal::Problem;

// The footer, if a filter opens the block.
Problem ReadBlock(ByteView block, Footer* footer) noexcept {
  const Problem problem = internal::ParseFooter(block, footer);
  if (problem) return problem;
  if (!internal::IsKind(footer->kind)) return {"kind is unknown to this library", true};
  if (footer->is_empty()) return {};
  PointFilter points;
  return internal::VisitKind(
      footer->kind, [&](auto impl) { return impl.Open(*footer, Kernel::kScalar, &points); });
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

Result<FilterDescription> DescribeFilter(ByteView block) try {
  Footer footer;
  if (const Problem problem = ReadBlock(block, &footer)) return ToStatus(problem);
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
  Problem problem = ReadBlock(block, &footer);
  if (!problem) problem = internal::VerifySections(footer);
  return problem ? ToStatus(problem) : Status::Ok();
}
BLOCKSIEVE_CATCH_BAD_ALLOC

}  // namespace blocksieve
