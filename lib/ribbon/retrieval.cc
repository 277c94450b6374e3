#include "lib/ribbon/retrieval.h"

#include <cassert>

#include "lib/ribbon/probe.h"
#include "lib/ribbon/shape.h"

namespace blocksieve::internal {

RetrievalWriter::RetrievalWriter(uint64_t num_hashes, uint32_t columns, Kernel kernel) {
  assert(columns >= 1 && columns <= kMaxRibbonColumns);
  if (num_hashes == 0) return;
  const Layout layout{FilterKind::kRibbon, static_cast<double>(columns), columns};
  bytes_.resize(static_cast<size_t>(RibbonCapacity(layout, num_hashes)));
  builder_.emplace(num_hashes, layout, kernel, bytes_.data());
}

bool RetrievalWriter::Append(std::string* out) {
  const RibbonBuild build = builder_->Finish();
  if (build.open_chunks != 0) return false;
  FilterInfo info;
  info.ribbon = build.shape;
  info.payload_bytes = build.shape.PayloadBytes();
  FooterBytes fields;
  AppendRibbonFields(info, &fields);
  AppendVarint(out, info.payload_bytes);
  out->append(AsText(fields.view()));
  out->append(reinterpret_cast<const char*>(bytes_.data()),
              static_cast<size_t>(info.payload_bytes));
  return true;
}

bool Retrieval::Open(Decoder* from) {
  FilterInfo info;
  info.payload_bytes = from->Varint();
  if (!ReadRibbonFields(from, &info).ok() || info.lead_bytes != 0 ||
      info.ribbon.has_wide_segments() || info.ribbon.has_open_chunks) {
    return false;
  }
  const ByteView payload = from->Bytes(info.payload_bytes);
  if (!from->ok() || from->rest().size() < kRetrievalTail) return false;
  view_.data = payload.data();
  view_.ribbon = MakeRibbonView(info.ribbon, payload.data());
  columns_ = info.ribbon.columns;
  return true;
}

uint32_t Retrieval::Get(uint64_t hash) const noexcept { return ReadRibbon(view_, hash); }

}  // namespace blocksieve::internal
