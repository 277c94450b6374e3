// SPDX-License-Identifier: Apache-2.0
#include "lib/skip/fences.h"

#include <cassert>

#include "lib/base/coding.h"
#include "lib/bits/packed.h"

namespace blocksieve::internal {
namespace {

/// Replaces the previous key with the next one.
void ReadKey(Decoder* from, std::string* key) {
  key->resize(static_cast<size_t>(from->Varint()));
  key->append(AsText(from->Bytes(from->Varint())));
}

}  // namespace

void FenceWriter::Add(std::string_view first, std::string_view last) {
  const bool restart = num_granules_++ % kGranulesPerRestart == 0;
  AppendAfter(restart ? std::string_view() : previous_, first, &bytes_);
  AppendAfter(first, last, &bytes_);
  previous_.assign(last);
}

bool FenceReader::Open(ByteView bytes, uint64_t num_granules) {
  bytes_ = bytes;
  Decoder decoder(bytes);
  uint64_t size = 0;
  for (uint64_t granule = 0; granule < num_granules && decoder.ok(); ++granule) {
    const bool restart = granule % kGranulesPerRestart == 0;
    if (restart) restarts_.push_back(bytes.size() - decoder.rest().size());
    for (const bool is_first : {true, false}) {
      const uint64_t shared = decoder.Varint();
      if (shared > (is_first && restart ? 0 : size)) return false;
      const uint64_t further = decoder.Varint();
      decoder.Bytes(further);
      size = shared + further;
    }
  }
  return decoder.ok() && decoder.rest().empty();
}

void FenceReader::Get(uint64_t granule, std::string* first, std::string* last) const {
  const uint64_t restart = granule / kGranulesPerRestart;
  assert(restart < restarts_.size());
  Decoder decoder(bytes_.subspan(static_cast<size_t>(restarts_[static_cast<size_t>(restart)])));
  std::string key;
  for (uint64_t g = restart * kGranulesPerRestart; g < granule; ++g) {
    ReadKey(&decoder, &key);
    ReadKey(&decoder, &key);
  }
  ReadKey(&decoder, &key);
  if (first != nullptr) *first = key;
  if (last == nullptr) return;
  ReadKey(&decoder, &key);
  *last = std::move(key);
}

}  // namespace blocksieve::internal
