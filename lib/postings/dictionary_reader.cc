#include <bit>

#include "lib/postings/dictionary.h"

namespace blocksieve::internal {
namespace {

/// Where in a bucket the remainders are that begin with some four bits.
struct Run {
  uint64_t begin = 0;  // numbers of values
  uint64_t end = 0;
  uint64_t num_values = 0;  // of the bucket
};

/// Reads 16 numbers in unary, as ones that a zero ends. False if they are longer than 64 bits.
bool ReadRuns(uint64_t wanted, BitReader* from, Run* run) noexcept {
  const uint64_t bits = from->Peek();
  // Setting the lowest zero again and again finds all; the one of the run on the way.
  uint64_t filled = bits;
  uint64_t at_run = bits;
  for (uint64_t i = 1; i < 16; ++i) {
    filled |= filled + 1;
    at_run = i == wanted ? filled : at_run;
  }
  const auto last_zero = static_cast<unsigned>(std::countr_one(filled));
  const auto zero = static_cast<unsigned>(std::countr_one(at_run));
  if (last_zero >= 64) return false;
  // The ones directly below the run's zero are its values.
  const auto count = zero == 0 ? 0u : static_cast<unsigned>(std::countl_one(bits << (64 - zero)));
  run->end = zero - wanted;
  run->begin = run->end - count;
  run->num_values = last_zero - 15;
  from->Skip(last_zero + 1);
  return true;
}

}  // namespace

bool Dictionary::Open(ByteView bytes, uint64_t num_granules, uint32_t least_count) {
  if (num_granules > kMaxListedGranules) return false;
  Decoder decoder(bytes);
  shape_.num_granules = num_granules;
  shape_.least_count = least_count;
  shape_.remainder_bits = decoder.Fixed<uint8_t>();
  shape_.count_bits = decoder.Fixed<uint8_t>();
  shape_.closeness = decoder.Fixed<uint8_t>();
  shape_.num_buckets = decoder.Varint();
  distance_ = decoder.Varint();
  ahead_ = decoder.Varint();
  offsets_ = PackedInts::Read(shape_.num_buckets, &decoder);
  stream_ = decoder.rest();
  lists_ = GranuleLists(num_granules, shape_.closeness);
  return decoder.ok() && shape_.num_buckets != 0 && shape_.num_buckets <= 8 * stream_.size() &&
         shape_.remainder_bits >= DictionaryShape::kMinRemainderBits &&
         shape_.remainder_bits <= DictionaryShape::kMaxRemainderBits &&
         shape_.count_bits <= DictionaryShape::kMaxCountBits &&
         shape_.closeness <= DictionaryShape::kMaxCloseness;
}

bool Dictionary::AddGranules(uint64_t hash, uint64_t end, uint64_t* words) const noexcept {
  BitReader reader(stream_, BucketStart(shape_.BucketOf(hash)));
  const uint64_t remainder = shape_.RemainderOf(hash, reader.ExpGolomb(0));
  Run run;
  if (!ReadRuns(remainder >> shape_.low_bits(), &reader, &run)) return false;

  const uint64_t lows = reader.position();
  const uint64_t wanted = remainder & LowBits(shape_.low_bits());
  uint64_t found = run.begin;
  for (; found < run.end; ++found) {
    BitReader low(stream_, lows + found * shape_.low_bits());
    if (low.Bits(shape_.low_bits()) == wanted) break;
  }
  reader.Skip(run.num_values * shape_.low_bits());
  if (!reader.ok()) return false;
  if (found == run.end) return true;
  for (uint64_t i = 0;; ++i) {
    const uint64_t count = reader.ExpGolomb(shape_.count_bits) + shape_.least_count;
    if (count > shape_.num_granules || !reader.ok()) return false;
    if (i == found) return lists_.Read(count, reader, end, words);
    if (!lists_.Skip(count, &reader)) return false;
  }
}

}  // namespace blocksieve::internal
