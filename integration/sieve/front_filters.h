#pragma once

#include <rocksdb/filter_policy.h>

#include <cstdint>
#include <memory>

#include "blocksieve/counting_bloom.h"

// The filters that recognise new URLs before a data block is read.

namespace blocksieve::sieve {

/// Seed of the hash that assigns URLs to shards and to counters. Filters of files use another seed,
/// because the URLs of a shard have the high bits of this hash in common.
inline constexpr uint64_t kSieveSeed = 0x7369657665;

/// The counting filter of a shard: one four-bit counter per five URLs, one position per URL.
///
/// A good filter of counters would take 36 bits per URL, five times as much as the filters of
/// files, which recognise new URLs in a full sieve. This filter only has to count URLs while they
/// come and go, which takes 0.8 bits per URL. As long as the sieve is not full, it also answers for
/// new URLs whose counter is zero, before RocksDB is asked: a third of them at a fifth of the
/// design size. It is over-full a sixteenth beyond the design size.
BloomLayout FrontLayout(uint64_t design_urls);

/// The filter policy for the files of a shard. Rates depend on how many files a filter stands
/// among.
///
/// A lookup of a new URL asks the filter of every file that could hold it, and their false-positive
/// rates add up. Nearly all URLs are on the last level, where one file could hold it: these filters
/// have the rate wanted of the whole, at 6.3 bits per URL. The files above are small, but up to six
/// of them could hold the URL. Their rate is a thirteenth, at 10 bits per URL, which is what all
/// URLs of a small sieve take.
std::shared_ptr<const rocksdb::FilterPolicy> NewFrontPolicy();

}  // namespace blocksieve::sieve
