#pragma once

#include <rocksdb/db.h>

#include <cstdint>
#include <string>

#include "integration/sieve/url_sieve.h"

namespace blocksieve::sieve {

/// Settings that a sieve keeps from its creation on.
struct SieveSettings {
  uint32_t num_shards = 0;
  uint64_t design_urls = 0;

  bool operator==(const SieveSettings&) const = default;
};

/// Reads the settings of the sieve at `path`, or takes those of `options` if there is no sieve.
/// Writes nothing. Errors: those of UrlSieve::Open.
rocksdb::Status ReadSettings(const std::string& path, const SieveOptions& options,
                             SieveSettings* settings);

/// Writes the settings unless they are there. Errors: Aborted if there are others, because another
/// process created the sieve after they were read.
rocksdb::Status WriteSettings(rocksdb::DB* db, const SieveSettings& settings);

}  // namespace blocksieve::sieve
