#include "lib/ribbon/retrieval.h"

#include "lib/ribbon/probe.h"
#include "lib/ribbon/shape.h"

namespace blocksieve::internal {

bool Retrieval::Open(Decoder* from) {
  FilterInfo info;
  info.payload_bytes = from->Varint();
  if (!ReadRibbonFields(from, &info).ok() || info.padding_bytes != 0 ||
      info.ribbon.has_wide_segments() || info.ribbon.has_always_true_chunks) {
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
