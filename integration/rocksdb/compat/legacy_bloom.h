#pragma once

#include <cstdint>

namespace blocksieve::rocksdb_plugin {

/// The Bloom filter that RocksDB writes into tables with a format_version below 5.
struct LegacyBloom {
  uint64_t num_lines = 0;
  uint64_t line_bits = 0;  ///< A cache line of the machine that wrote it.
  uint32_t num_probes = 0;
};

/// The cache lines of RocksDB's machines: 64 bytes, or 128 or 256 on some.
inline bool IsLegacyLine(uint64_t bits) { return bits == 512 || bits == 1024 || bits == 2048; }

/// FPR of the filter with `num_keys` distinct keys, within 3 % up to 14 probes (21 bits per key).
/// REQUIRES: num_lines >= 1, IsLegacyLine(line_bits), num_probes >= 1.
double LegacyBloomFpr(const LegacyBloom& filter, double num_keys);

}  // namespace blocksieve::rocksdb_plugin
