#include "lib/granule/compression.h"

#include <zstd.h>

namespace blocksieve::internal {
namespace {

// Level 3 is zstd's own default; level 15 would save 6 % of the keys for ten times the time.
constexpr int kLevel = 3;

// Of raw to stored bytes. Whoever makes up an index cannot have a reader allocate more than this.
constexpr uint64_t kMaxRatio = 256;

}  // namespace

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
