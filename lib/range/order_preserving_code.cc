// SPDX-License-Identifier: Apache-2.0
#include "lib/range/order_preserving_code.h"

#include "lib/range/sorted_codes.h"

namespace blocksieve::internal {

OrderPreservingCode::OrderPreservingCode(const CodeSizes& sizes, Decoder* from) noexcept
    : prefix_bytes_(sizes.prefix_bytes),
      num_positions_(sizes.positions),
      num_symbols_(sizes.symbols) {
  prefix_ = from->Bytes(prefix_bytes_).data();
  positions_ = from->Bytes(num_positions_ * kPositionBytes).data();
  if (num_symbols_ == 0) return;
  is_symbol_ = from->Bytes((num_positions_ + 7) / 8).data();
  const auto words = from->Fixed<uint8_t>();
  for (size_t i = 0; i < in_use_.size(); ++i) {
    if ((words >> i & 1) != 0) in_use_[i] = from->Fixed<uint64_t>();
  }
  const ByteView begins = from->Bytes(num_symbols_ + 1);
  if (!from->ok()) return;
  size_t symbols = 0;
  for (size_t i = 0; i < in_use_.size(); ++i) {
    ranks_[i] = static_cast<uint8_t>(symbols);
    symbols += static_cast<size_t>(std::popcount(in_use_[i]));
  }
  if (symbols != num_symbols_ || begins.back() == 0) from->Bytes(UINT64_MAX);  // damaged
  begins_ = begins.data();
  last_part_ = begins.back() - 1u;
}

SortedCodes::SortedCodes(const OrderPreservingCode& code) : code_(code), is_word_(code.IsWord(0)) {
  for (size_t byte = 0; byte < 256; ++byte) {
    bytes_[byte] = {static_cast<uint32_t>(byte), 1};
    if (code.num_symbols_ != 0) symbols_[byte] = code.FindShare(static_cast<uint8_t>(byte));
  }
  for (size_t i = 0; i <= code.num_positions_; ++i) {
    positions_[i].shares = (code.IsSymbol(i) ? symbols_ : bytes_).data();
    for (unsigned edges = 0; edges <= OrderPreservingCode::kBothEdges; ++edges) {
      positions_[i].parts[edges] = code.PartsAt(i, edges);
    }
  }
  states_[0] = {};
}

}  // namespace blocksieve::internal
