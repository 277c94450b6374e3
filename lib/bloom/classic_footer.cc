#include "lib/bloom/classic_footer.h"

#include "lib/bloom/counting_cells.h"

namespace blocksieve::internal {

BloomLayout BloomLayoutOf(const FilterInfo& info) noexcept {
  return {.num_bits = info.num_cells,
          .num_hashes = info.num_probes,
          .hash_seed = info.hash_seed,
          .design_keys = info.design_keys};
}

void AppendClassicFields(const FilterInfo& info, std::string* footer) {
  footer->push_back(static_cast<char>(info.num_probes));
  if (info.kind == FilterKind::kCountingBloom) footer->push_back(static_cast<char>(info.cell_bits));
  AppendVarint(footer, info.num_cells);
  AppendVarint(footer, info.design_keys);
}

uint64_t ClassicFieldBytes(const FilterInfo& info) noexcept {
  return (info.kind == FilterKind::kCountingBloom ? 2 : 1) + VarintBytes(info.num_cells) +
         VarintBytes(info.design_keys);
}

Status ReadClassicFields(Decoder* fields, FilterInfo* info) {
  info->num_probes = fields->Fixed<uint8_t>();
  info->cell_bits = info->kind == FilterKind::kCountingBloom ? fields->Fixed<uint8_t>() : 1;
  info->num_cells = fields->Varint();
  info->design_keys = fields->Varint();
  if (!fields->ok()) return Status::Corruption("filter block: footer ends early");
  if (Status status = BloomLayoutOf(*info).Check(); !status.ok()) {
    return Status::Corruption("filter block: " + status.message());
  }
  if (info->kind == FilterKind::kCountingBloom && !IsCounterBits(info->cell_bits)) {
    return Status::Corruption("filter block: counter_bits are " + std::to_string(info->cell_bits) +
                              "; allowed is 2, 4, 8 or 16");
  }
  const uint64_t cell_bytes = CellBytes(info->num_cells, info->cell_bits);
  const uint64_t expected = info->num_keys == 0 ? 0 : cell_bytes;
  if (cell_bytes > CellBytes(kMaxBloomBits, 1) || info->payload_bytes != expected) {
    return Status::Corruption("filter block: payload of " + std::to_string(info->payload_bytes) +
                              " bytes does not fit " + std::to_string(info->num_cells) +
                              " cells of " + std::to_string(info->cell_bits) + " bits");
  }
  return Status::Ok();
}

}  // namespace blocksieve::internal
