// SPDX-License-Identifier: Apache-2.0
#include "lib/ribbon/kind.h"

#include <cassert>

#include "lib/base/block_memory.h"
#include "lib/ribbon/builder.h"
#include "lib/ribbon/probe.h"
#include "lib/ribbon/shape.h"
#include "lib/ribbon/sizing.h"

namespace blocksieve::internal {
namespace {

Problem ReadFields(const Footer& footer, RibbonShape* shape, uint64_t* num_keys) noexcept {
  if (footer.is_short) return ReadShortRibbonFields(footer.points, shape, num_keys);
  *num_keys = footer.num_keys;
  Decoder fields(footer.fields);
  const Problem problem = ReadRibbonFields(&fields, shape);
  if (problem) return problem;
  if (!fields.rest().empty()) return {"footer has trailing bytes"};
  if (footer.points.size() < shape->padding_bytes) return {"filter is smaller than its padding"};
  return CheckRibbonShape(*shape, footer.points.size() - shape->padding_bytes);
}

void SetFields(RibbonShape shape, BlockPlan* plan) noexcept {
  shape.padding_bytes = plan->padding_bytes;
  plan->fields = plan->short_fields = {};
  AppendRibbonFields(shape, &plan->fields);
  AppendShortRibbonFields(shape, plan->num_keys, &plan->short_fields);
}

}  // namespace

std::string RibbonKind::LayoutText(const Layout& layout) {
  return std::to_string(layout.num_probes) + " whole column" + (layout.num_probes == 1 ? "" : "s");
}

BlockPlan RibbonKind::Plan(const Layout& layout, uint64_t num_keys) noexcept {
  const Layout row = NearestRibbonLayout(layout);
  BlockPlan plan{.kind = kKind, .num_keys = num_keys};
  const uint64_t payload_bytes = PayloadBytes(layout, num_keys);
  plan.padding_bytes = PaddingBytes(payload_bytes);
  plan.points_bytes = plan.padding_bytes + payload_bytes;
  // Blocks vary by a few slots, and by the start of the wide segments.
  plan.excess_bytes = (8 + num_keys / 8192) * (layout.num_probes + 1) / 8 + 6;
  plan.capacity = plan.padding_bytes + RibbonCapacity(row, num_keys);
  plan.working_bytes = RibbonWorkingBytes(row, num_keys);
  plan.copies_hashes = true;
  SetFields(ExpectedRibbonShape(row, num_keys), &plan);
  return plan;
}

std::string RibbonKind::Build(HashList* hashes, bool keep, const Layout& layout, uint8_t* out,
                              BlockPlan* plan) {
  const RibbonShape shape = BuildRibbon(hashes, keep, NearestRibbonLayout(layout), ActiveKernel(),
                                        out + plan->padding_bytes);
  plan->points_bytes = plan->padding_bytes + shape.PayloadBytes();
  SetFields(shape, plan);
  return shape.has_always_true_chunks ? "no ribbon found: too many similar hashes" : "";
}

Problem RibbonKind::Open(const Footer& footer, Kernel kernel, PointFilter* filter) noexcept {
  RibbonShape shape;
  uint64_t num_keys;
  const Problem problem = ReadFields(footer, &shape, &num_keys);
  if (problem) return problem;
  const uint8_t* const payload = footer.points.data() + shape.padding_bytes;
  *filter = PointFilter(RibbonOpsFor(kernel, shape), MakeRibbonState(shape, payload));
  return {};
}

void RibbonKind::Describe(const Footer& footer, FilterDescription* description) noexcept {
  RibbonShape shape;
  [[maybe_unused]] const Problem problem = ReadFields(footer, &shape, &description->num_keys);
  assert(!problem);
  description->predicted_fpr = RibbonFpr(shape.columns, RibbonWideShare(shape));
}

}  // namespace blocksieve::internal
