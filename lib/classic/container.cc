// SPDX-License-Identifier: Apache-2.0
#include "lib/classic/container.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <string_view>

#include "lib/base/block_memory.h"
#include "lib/base/coding.h"
#include "lib/base/errors.h"

namespace blocksieve::internal {
namespace {

constexpr std::string_view kMagic = "BSC";
constexpr uint8_t kVersion = 1;
constexpr size_t kHeaderBytes = 30;
constexpr size_t kChecksumBytes = sizeof(uint32_t);

static_assert(kHeaderBytes + CellBytes(kMaxBloomBits, 1) + kChecksumBytes < uint64_t{1} << 32,
              "RocksDB's limit for a value, such as a filter of the URL sieve");

Status Damaged(const std::string& what) { return Status::Corruption("Bloom filter: " + what); }

}  // namespace

Status CheckCounters(const BloomLayout& layout, uint32_t counter_bits) {
  BLOCKSIEVE_RETURN_IF_ERROR(layout.Check());
  const std::string bits = std::to_string(counter_bits);
  if (counter_bits != 2 && counter_bits != 4 && counter_bits != 8 && counter_bits != 16) {
    return Status::InvalidArgument("counter_bits is " + bits + "; allowed: 2, 4, 8 or 16");
  }
  const uint64_t max_counters = kMaxBloomBits / counter_bits;
  if (layout.num_bits <= max_counters) return Status::Ok();
  return Status::InvalidArgument("num_bits is " + std::to_string(layout.num_bits) +
                                 "; allowed: 1 to " + std::to_string(max_counters) +
                                 " for counters of " + bits + " bits");
}

Result<OwnedBytes> AllocateCells(const BloomLayout& layout, uint32_t cell_bits) {
  const uint64_t size = CellBytes(layout.num_bits, cell_bits);
  OwnedBytes cells = AllocateBlock(size, 0);
  if (cells.memory == nullptr) {
    return Status::ResourceExhausted("out of memory for a filter of " + std::to_string(size) +
                                     " bytes");
  }
  return cells;
}

Result<OwnedBytes> WriteContainer(const BloomLayout& layout, uint32_t cell_bits,
                                  ByteView cells) try {
  BLOCKSIEVE_RETURN_IF_ERROR(layout.Check());
  std::string header(kMagic);
  AppendLittleEndian(&header, kVersion);
  AppendLittleEndian(&header, static_cast<uint8_t>(cell_bits));
  AppendLittleEndian(&header, static_cast<uint8_t>(layout.num_probes));
  AppendLittleEndian(&header, layout.num_bits);
  AppendLittleEndian(&header, layout.design_keys);
  AppendLittleEndian(&header, layout.hash_seed);
  assert(header.size() == kHeaderBytes);
  OwnedBytes written = AllocateBlock(kHeaderBytes + cells.size() + kChecksumBytes, 0);
  if (written.memory == nullptr) return OutOfMemory();
  std::copy(header.begin(), header.end(), written.data());
  std::copy(cells.begin(), cells.end(), written.data() + kHeaderBytes);
  const size_t checksum_at = written.size - kChecksumBytes;
  StoreLittleEndian(written.data() + checksum_at, Checksum(written.view().first(checksum_at)));
  return written;
}
BLOCKSIEVE_CATCH_BAD_ALLOC

Result<BloomContainer> ReadContainer(bool has_counters, ByteView bytes) {
  Decoder header(bytes);
  if (AsText(header.Bytes(kMagic.size())) != kMagic) {
    return Damaged("first bytes are not \"BSC\"; another format?");
  }
  const auto version = header.Fixed<uint8_t>();
  if (header.ok() && version != kVersion) {
    return Status::NotSupported("Bloom filter: format version is " + std::to_string(version) +
                                "; this library reads " + std::to_string(kVersion));
  }
  BloomContainer read;
  read.cell_bits = header.Fixed<uint8_t>();
  read.layout.num_probes = header.Fixed<uint8_t>();
  read.layout.num_bits = header.Fixed<uint64_t>();
  read.layout.design_keys = header.Fixed<uint64_t>();
  read.layout.hash_seed = header.Fixed<uint64_t>();
  if (!header.ok() || header.rest().size() < kChecksumBytes) return Damaged("it is truncated");
  const size_t checksum_at = bytes.size() - kChecksumBytes;
  if (LoadLittleEndian<uint32_t>(bytes.data() + checksum_at) !=
      Checksum(bytes.first(checksum_at))) {
    return Damaged("checksum mismatch");
  }
  const bool are_bits = read.cell_bits == 1;
  if (has_counters == are_bits) {
    return Status::NotSupported(are_bits ? "Bloom filter: cells are bits; allowed: counters"
                                         : "Bloom filter: cells are counters; allowed: bits");
  }
  const Status valid = are_bits ? read.layout.Check() : CheckCounters(read.layout, read.cell_bits);
  if (!valid.ok()) return Damaged(valid.message());
  const ByteView cells = header.rest().first(header.rest().size() - kChecksumBytes);
  const std::string count = std::to_string(read.layout.num_bits) + " cells";
  if (cells.size() != CellBytes(read.layout.num_bits, read.cell_bits)) {
    return Damaged("cells take " + std::to_string(cells.size()) + " bytes; the header says " +
                   count + " of " + std::to_string(read.cell_bits) + " bits");
  }
  const uint64_t last_bits = read.layout.num_bits * read.cell_bits % 8;
  if (last_bits != 0 && cells.back() >> last_bits != 0) {
    return Damaged("bits are set after the last of " + count);
  }
  BLOCKSIEVE_ASSIGN_OR_RETURN(read.cells, AllocateCells(read.layout, read.cell_bits));
  std::copy(cells.begin(), cells.end(), read.cells.data());
  return read;
}

}  // namespace blocksieve::internal
