#pragma once

#include <cstdint>

#include "blocksieve/counting_bloom.h"

namespace blocksieve::sieve {

/// Seed of the hash that places URLs in shards and in counting filters. Not that of the filters of
/// files: the URLs of one shard would have the high bits of their hashes in common.
inline constexpr uint64_t kSieveSeed = 0x7369657665;

/// The counting filter of a shard: one counter of four bits per five URLs, one position per URL.
///
/// As a filter alone it would be poor, and a good one of counters would take 36 bits per URL, five
/// times what the filters of the files take. These are what recognise new URLs in a sieve that is
/// full. What must be counted is how many URLs there are, while they come and go: that takes 0.8
/// bits per URL. And as long as the sieve is not full, the counters that are still zero answer
/// before RocksDB is asked: every third new URL at a fifth of the design size. It is over-full a
/// sixteenth beyond that size.
BloomLayout FrontLayout(uint64_t design_urls);

}  // namespace blocksieve::sieve
