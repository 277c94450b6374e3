#pragma once

#include <rocksdb/filter_policy.h>

#include <memory>

namespace blocksieve::sieve {

/// Filters of the files of a shard, by how long a file lives and how many others are beside it.
///
/// A new URL has to pass the filter of every file that could hold it, and the rates of these add
/// up. Nearly all URLs are in files of the last level, of which one could hold it; those have the
/// rate that is wanted of the whole, which costs 6.3 bits per URL. Files above the last level are
/// few and small, but up to six could hold it: their rate is sixty times lower, for a tenth of the
/// URLs.
std::shared_ptr<const rocksdb::FilterPolicy> NewFrontPolicy();

}  // namespace blocksieve::sieve
