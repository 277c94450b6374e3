
#include "lib/granule/granule_list.h"
#include "lib/granule/postings.h"

namespace blocksieve::internal {
namespace {

bool IsSubset(const GranuleSet& some, const GranuleSet& all) {
  for (size_t w = 0; w < some.words().size(); ++w) {
    if ((some.words()[w] & ~all.words()[w]) != 0) return false;
  }
  return true;
}

}  // namespace

bool Postings::Open(ByteView bytes, uint64_t num_granules) {
  Decoder decoder(bytes);
  shape_.num_granules = num_granules;
  shape_.remainder_bits = decoder.Fixed<uint8_t>();
  shape_.count_bits = decoder.Fixed<uint8_t>();
  shape_.num_buckets = decoder.Varint();
  offsets_ = PackedInts::Read(shape_.num_buckets, &decoder);
  stream_ = decoder.rest();
  return decoder.ok() && num_granules <= kMaxListedGranules && shape_.num_buckets != 0 &&
         shape_.num_buckets <= 8 * stream_.size() + 1 &&
         shape_.remainder_bits >= PostingsShape::kMinRemainderBits &&
         shape_.remainder_bits <= PostingsShape::kMaxRemainderBits &&
         shape_.count_bits <= PostingsShape::kMaxCountBits;
}

void Postings::ReadList(uint64_t count, BitReader* from, GranuleSet* set) const {
  if (count < PostingsShape::kLongList) {
    return ReadGranules(count, shape_.num_granules, from, set);
  }
  const bool is_bitmap = from->Bits(1) != 0;
  const uint64_t bits =
      is_bitmap ? shape_.num_granules : from->ExpGolomb(PostingsShape::kLengthBits);
  if (set == nullptr) return from->Skip(bits);
  if (!is_bitmap) return ReadGranules(count, shape_.num_granules, from, set);
  const std::span<uint64_t> words = set->words();
  BitReader bitmap = *from;
  from->Skip(bits);
  if (!from->ok()) return;
  for (size_t w = 0; w < words.size(); ++w) {
    const uint64_t left = shape_.num_granules - 64 * w;
    words[w] |= left >= 64 ? bitmap.Peek() : bitmap.Peek() & ((uint64_t{1} << left) - 1);
    bitmap.Skip(64);
  }
}

bool Postings::AddContaining(uint64_t hash, GranuleSet* set) const {
  const uint64_t bucket = shape_.BucketOf(hash);
  BitReader reader(stream_, offsets_[bucket]);
  const uint64_t num_values = reader.ExpGolomb(PostingsShape::kBucketBits);
  if (!reader.ok()) return false;
  if (num_values == 0) return true;
  const uint64_t wanted = shape_.RemainderOf(hash, reader.ExpGolomb(0));

  // Remainders ascend.
  uint64_t found = num_values;
  uint64_t remainder = 0;
  for (uint64_t i = 0; i < num_values && reader.ok(); ++i) {
    remainder += reader.Rice(shape_.gap_bits()) + (i == 0 ? 0 : 1);
    if (remainder == wanted) found = i;
  }
  if (!reader.ok()) return false;
  for (uint64_t i = 0; i <= found && found < num_values && reader.ok(); ++i) {
    const uint64_t count = reader.ExpGolomb(shape_.count_bits) + 1;
    if (count > shape_.num_granules) return false;
    ReadList(count, &reader, i == found ? set : nullptr);
  }
  return reader.ok();
}

void Postings::KeepContainingAny(std::span<const uint64_t> hashes, GranuleSet* candidates) const {
  GranuleSet containing = GranuleSet::None(candidates->num_granules());
  for (size_t i = 0; i < hashes.size(); ++i) {
    if (!AddContaining(hashes[i], &containing)) return;
    // Many values soon have all candidates between them.
    if (i % 16 == 15 && IsSubset(*candidates, containing)) return;
  }
  *candidates &= containing;
}

}  // namespace blocksieve::internal
