#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "lib/base/coding.h"
#include "lib/block/filter_info.h"
#include "lib/block/filter_view.h"

// What filter blocks of version 1 have, whatever their kind (lib/FORMAT.md is normative; small
// ribbons have less, short_block.h):
//
//   payload | fields | field bytes (1) | version (1) | magic (1) | checksum (4) | 00 00 00 00 00
//           |<---------------- the checksum covers these ------>|
//
//   fields: kind and flags (1), keys (varint), payload bytes (varint), payload checksum (4),
//           hash seed (8, if flagged), layout fields of the kind

namespace blocksieve::internal {

/// A footer, or a part of one, that takes no memory of its own: its size is asked for where nothing
/// may fail.
class FooterBytes {
 public:
  /// No footer is longer: 33 bytes that all kinds have, 31 of a ribbon's layout, 12 of the tail.
  static constexpr size_t kMaxBytes = 80;

  void push_back(char byte) noexcept { append(&byte, 1); }
  void append(const char* bytes, size_t count) noexcept {
    assert(count <= kMaxBytes - size_);
    std::memcpy(bytes_.data() + size_, bytes, count);
    size_ += count;
  }
  size_t size() const noexcept { return size_; }
  ByteView view() const noexcept { return {bytes_.data(), size_}; }

 private:
  std::array<uint8_t, kMaxBytes> bytes_;
  size_t size_ = 0;
};

/// What one kind of filter does to read and write blocks.
struct FilterFormat {
  /// Whether a filter of no keys has layout fields, too.
  bool empty_has_fields;

  void (*append_fields)(const FilterInfo& info, FooterBytes* footer) noexcept;

  /// Reads the layout fields and checks them against `info->payload_bytes`. Errors: Corruption.
  Status (*read_fields)(Decoder* fields, FilterInfo* info);

  /// The model's FPR. REQUIRES: info.num_keys > 0.
  double (*predicted_fpr)(const FilterInfo& info) noexcept;

  /// The same in a short block (short_block.h). False, with nothing appended, if its fields cannot
  /// say what `info` does. Null: the kind has no short blocks.
  bool (*append_short_fields)(const FilterInfo& info, FooterBytes* footer) noexcept = nullptr;

  /// Reads keys and layout off the end of what a short block has before its tail, and checks them
  /// against what is left, the payload. Errors: Corruption.
  Status (*read_short_fields)(ByteView payload_and_fields, FilterInfo* info) = nullptr;

  /// Completes the view of a payload at `view->data` and returns its entry points.
  /// REQUIRES: read_fields accepted, `kernel` is available.
  const ProbeOps& (*open)(const FilterInfo& info, Kernel kernel, FilterView* view) noexcept;
};

/// In every long footer; no short block has it in its place.
inline constexpr uint8_t kMagicByte = 0xB5;

/// The end of every block, but for short ones: a byte that counts the fields before it, the
/// version, the magic byte, a checksum of these and the fields, and the zeros.
struct BlockTail {
  uint8_t version;
  ByteView fields;
  ByteView before;  // all that the block has before the fields
};

/// Errors: Corruption (too short, foreign, damaged).
Result<BlockTail> ReadTail(ByteView block);

/// Whether the block may be of this version: looks at two bytes.
bool LooksLikeVersion(ByteView block, uint8_t version) noexcept;

/// Completes a footer that has its fields.
void AppendTail(uint8_t version, FooterBytes* footer) noexcept;

/// All that follows the payload in a block of version 1. `info.block_bytes` is not read.
FooterBytes EncodeFooter(const FilterInfo& info, const FilterFormat& format) noexcept;

/// Bytes that Seal adds to such a payload.
uint64_t FooterBytesOf(const FilterInfo& info, const FilterFormat& format) noexcept;

/// Memory for a block of at most `block_bytes`, all zero and aligned to suit `plan.padding_bytes`.
/// `build_bytes` is what building takes, the block included, of which `max_build_bytes` are allowed
/// (0: no limit); kExhausted if there was too little already.
/// Errors: ResourceExhausted if the block would reach 4 GiB, building takes too much, or memory is
/// short. Throws std::bad_alloc.
inline constexpr uint64_t kExhausted = UINT64_MAX;
Result<OwnedBytes> AllocateFilterBlock(const FilterInfo& plan, uint64_t block_bytes,
                                       uint64_t build_bytes, uint64_t max_build_bytes);

/// Makes a filter block of the `info.payload_bytes` that `block` begins with: adds their checksum
/// and the footer, the short one if it will do, and cuts the block to its size. REQUIRES: there is
/// room for the footer.
void Seal(FilterInfo info, const FilterFormat& format, OwnedBytes* block) noexcept;

/// DescribeFilterBlock for a block without a part for ranges, and without a copy of what it says:
/// readers are made for single probes. Errors: Corruption, NotSupported. Throws std::bad_alloc.
Status ReadFooter(ByteView block, FilterInfo* info);

/// Compares the payload's checksum, in time linear in its size. Errors: Corruption.
Status CheckPayload(ByteView block, const FilterInfo& info);

/// "filter block: <what>"
Status DamagedBlock(const std::string& what);

/// NotSupported, naming the versions that are.
Status UnknownVersion(uint8_t version);

}  // namespace blocksieve::internal
