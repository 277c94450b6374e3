#pragma once

#include <rocksdb/db.h>

#include <cstdint>
#include <string>

#include "integration/sieve/url_sieve.h"

namespace blocksieve::sieve {

/// What a sieve keeps from its creation on.
struct SieveSettings {
  uint32_t num_shards = 0;
  uint64_t design_urls = 0;

  bool operator==(const SieveSettings&) const = default;
};

/// The settings of the sieve at `path`, or those that `options` asks for if there is none. Nothing
/// is written. Errors as UrlSieve::Open.
rocksdb::Status ReadSettings(const std::string& path, const SieveOptions& options,
                             SieveSettings* settings);

/// Writes them, unless they are there. Aborted if others are: another process created the sieve
/// since they were read.
rocksdb::Status WriteSettings(rocksdb::DB* db, const SieveSettings& settings);

}  // namespace blocksieve::sieve
