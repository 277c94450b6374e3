#include "lib/granule/granule_list.h"

#include <cassert>

namespace blocksieve::internal {
namespace {

// In both, the granules lie in low .. low + room - 1, and room is at least their number.

void Append(std::span<const uint32_t> granules, uint64_t low, uint64_t room, BitWriter* out) {
  while (!granules.empty() && granules.size() != room) {
    const size_t before = granules.size() / 2;
    const uint64_t middle = granules[before];
    out->Truncated(middle - low - before, room - granules.size() + 1);
    Append(granules.first(before), low, middle - low, out);
    granules = granules.subspan(before + 1);
    room -= middle + 1 - low;
    low = middle + 1;
  }
}

void Read(uint64_t count, uint64_t low, uint64_t room, BitReader* from, GranuleSet* set) {
  while (count != 0 && count != room) {
    const uint64_t before = count / 2;
    const uint64_t middle = low + before + from->Truncated(room - count + 1);
    if (!from->ok()) return;
    if (before != 0) Read(before, low, middle - low, from, set);
    if (set != nullptr) set->Add(static_cast<size_t>(middle));
    count -= before + 1;
    room -= middle + 1 - low;
    low = middle + 1;
  }
  if (count != 0 && set != nullptr) AddGranules(low, low + room - 1, set);
}

}  // namespace

void AppendGranules(std::span<const uint32_t> granules, uint64_t num_granules, BitWriter* out) {
  assert(granules.size() <= num_granules && num_granules <= kMaxListedGranules);
  Append(granules, 0, num_granules, out);
}

void ReadGranules(uint64_t count, uint64_t num_granules, BitReader* from, GranuleSet* set) {
  assert(count <= num_granules);
  Read(count, 0, num_granules, from, set);
}

void AddGranules(uint64_t first, uint64_t last, GranuleSet* set) noexcept {
  assert(first <= last && last < set->num_granules());
  const std::span<uint64_t> words = set->words();
  const auto first_word = static_cast<size_t>(first / 64);
  const auto last_word = static_cast<size_t>(last / 64);
  const uint64_t from_first = ~uint64_t{0} << (first % 64);
  const uint64_t to_last = ~uint64_t{0} >> (63 - last % 64);
  if (first_word == last_word) {
    words[first_word] |= from_first & to_last;
    return;
  }
  words[first_word] |= from_first;
  for (size_t w = first_word + 1; w < last_word; ++w) words[w] = ~uint64_t{0};
  words[last_word] |= to_last;
}

}  // namespace blocksieve::internal
