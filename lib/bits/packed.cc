// SPDX-License-Identifier: Apache-2.0
#include "lib/bits/packed.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace blocksieve::internal {
namespace {

// zstd's default. Level 15 would make keys 6 % smaller and take ten times as long.
constexpr int kLevel = 3;

// Maximum ratio of raw to stored bytes: limits the memory that a malicious index makes readers use.
constexpr uint64_t kMaxRatio = 256;

}  // namespace

void PackedInts::Append(std::span<const uint64_t> values, std::string* out) {
  uint64_t min = 0;
  uint64_t max = 0;
  if (!values.empty()) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    min = *low;
    max = *high;
  }
  const auto width = static_cast<uint32_t>(std::bit_width(max - min));
  AppendVarint(out, min);
  out->push_back(static_cast<char>(width));
  unsigned __int128 buffer = 0;
  uint32_t buffered = 0;
  for (size_t i = 0; i < values.size() && width != 0; ++i) {
    buffer |= static_cast<unsigned __int128>(values[i] - min) << buffered;
    for (buffered += width; buffered >= 8; buffered -= 8) {
      out->push_back(static_cast<char>(buffer));
      buffer >>= 8;
    }
  }
  if (buffered != 0) out->push_back(static_cast<char>(buffer));
}

void PackedInts::AppendBits(std::span<const uint64_t> words, uint64_t count, std::string* out) {
  std::vector<uint64_t> bits(static_cast<size_t>(count));
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = words[i / 64] >> (i % 64) & 1;
  Append(bits, out);
}

PackedInts PackedInts::Read(uint64_t count, Decoder* from) noexcept {
  PackedInts ints;
  ints.base_ = from->Varint();
  ints.width_ = from->Fixed<uint8_t>();
  const auto num_bytes = (static_cast<unsigned __int128>(count) * ints.width_ + 7) / 8;
  const bool too_many =
      ints.width_ > 64 || num_bytes > std::numeric_limits<uint64_t>::max() / 2;  // Bytes fails then
  ints.bits_ = from->Bytes(too_many ? std::numeric_limits<uint64_t>::max()
                                    : static_cast<uint64_t>(num_bytes));
  return from->ok() ? ints : PackedInts();
}

void AppendAfter(std::string_view previous, std::string_view bytes, std::string* out) {
  const size_t shared = SharedBytes(previous, bytes);
  AppendVarint(out, shared);
  AppendVarint(out, bytes.size() - shared);
  out->append(bytes.substr(shared));
}

void AppendCompressed(std::string_view raw, std::string* out) {
  std::string stored(ZSTD_compressBound(raw.size()), '\0');
  const size_t size = ZSTD_compress(stored.data(), stored.size(), raw.data(), raw.size(), kLevel);
  const bool smaller =
      ZSTD_isError(size) == 0 && size < raw.size() && size >= raw.size() / kMaxRatio + 1;
  const std::string_view kept = smaller ? std::string_view(stored).substr(0, size) : raw;
  AppendVarint(out, raw.size());
  AppendVarint(out, kept.size());
  out->append(kept);
}

ByteView ReadCompressed(Decoder* from, std::vector<uint8_t>* memory) {
  const uint64_t raw_size = from->Varint();
  const ByteView stored = from->Bytes(from->Varint());
  if (!from->ok() || raw_size == stored.size()) return stored;
  if (raw_size > stored.size() && raw_size / kMaxRatio <= stored.size()) {
    memory->resize(static_cast<size_t>(raw_size));
    const bool is_one_frame =
        ZSTD_findFrameCompressedSize(stored.data(), stored.size()) == stored.size();
    const size_t size =
        is_one_frame ? ZSTD_decompress(memory->data(), memory->size(), stored.data(), stored.size())
                     : 0;
    if (ZSTD_isError(size) == 0 && size == raw_size) return *memory;
  }
  from->Bytes(~uint64_t{0});  // fails
  return {};
}

}  // namespace blocksieve::internal
