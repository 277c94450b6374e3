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

// The layout of version-1 filter blocks of any kind. lib/FORMAT.md is normative. Small ribbons have
// a shorter footer (short_block.h).
//
//   payload | fields | field bytes (1) | version (1) | magic (1) | checksum (4) | 00 00 00 00 00
//           |<---------------- the checksum covers these ------>|
//
//   fields: kind and flags (1), keys (varint), payload bytes (varint), payload checksum (4),
//           hash seed (8, if flagged), layout fields of the kind

namespace blocksieve::internal {

/// A footer, or part of one, in a fixed buffer: functions that compute its size must not fail.
class FooterBytes {
 public:
  /// Maximum size: 33 bytes that all kinds have, 31 of a ribbon's layout, 12 of the tail.
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

/// Block format of one kind of filter.
struct FilterFormat {
  /// For a filter with keys; others have no layout fields.
  void (*append_fields)(const FilterInfo& info, FooterBytes* footer) noexcept;

  /// Reads the layout fields and checks them against `info->payload_bytes`. Errors: Corruption.
  Status (*read_fields)(Decoder* fields, FilterInfo* info);

  /// The model's FPR. REQUIRES: info.num_keys > 0.
  double (*predicted_fpr)(const FilterInfo& info) noexcept;

  /// Appends the fields of a short block (short_block.h). False, without a change, if `info` does
  /// not fit them. Null: the kind has no short blocks.
  bool (*append_short_fields)(const FilterInfo& info, FooterBytes* footer) noexcept = nullptr;

  /// Reads keys and layout from the end of a short block without its tail, and checks them against
  /// the size of the rest, the payload. Errors: Corruption.
  Status (*read_short_fields)(ByteView payload_and_fields, FilterInfo* info) = nullptr;

  /// Completes the view of a payload at `view->data` and returns its entry points.
  /// REQUIRES: read_fields accepted the block, `kernel` is available.
  const ProbeOps& (*open)(const FilterInfo& info, Kernel kernel, FilterView* view) noexcept;
};

/// The magic byte of every long footer; short blocks never have it in this place.
inline constexpr uint8_t kMagicByte = 0xB5;

/// The end of every block except short ones: field bytes, version, magic byte, checksum, zeros.
struct BlockTail {
  uint8_t version;
  ByteView fields;
  ByteView before;  // the block up to the fields
};

/// Reads and checks the tail. Errors: Corruption (too short, foreign, damaged).
Result<BlockTail> ReadTail(ByteView block);

/// Whether the block may be of this version: looks at two bytes.
bool LooksLikeVersion(ByteView block, uint8_t version) noexcept;

/// Appends everything after the fields to a footer.
void AppendTail(uint8_t version, FooterBytes* footer) noexcept;

/// The footer of a version-1 block, including its zeros. `info.block_bytes` is not read.
FooterBytes EncodeFooter(const FilterInfo& info, const FilterFormat& format) noexcept;

/// Size of the footer that Seal appends, in bytes.
uint64_t FooterBytesOf(const FilterInfo& info, const FilterFormat& format) noexcept;

/// Allocates a zeroed block of `block_bytes`, aligned for `plan.padding_bytes`. `build_bytes` is
/// the memory for building, including the block, or kExhausted if it has run out; `max_build_bytes`
/// is its limit (0: none). Errors: ResourceExhausted if the block would reach 4 GiB, the limit is
/// exceeded, or memory runs out. Throws std::bad_alloc.
inline constexpr uint64_t kExhausted = UINT64_MAX;
Result<OwnedBytes> AllocateFilterBlock(const FilterInfo& plan, uint64_t block_bytes,
                                       uint64_t build_bytes, uint64_t max_build_bytes);

/// Completes a block that starts with a payload of `info.payload_bytes`: appends the footer, a
/// short one if possible, and cuts the block to its size. REQUIRES: the block has room for the
/// footer.
void Seal(FilterInfo info, const FilterFormat& format, OwnedBytes* block) noexcept;

/// DescribeFilterBlock for a block without a range part, and without a copy of the result, because
/// readers are opened for single probes. Errors: Corruption, NotSupported. Throws std::bad_alloc.
Status ReadFooter(ByteView block, FilterInfo* info);

/// Compares the payload's checksum, in time linear in its size. Errors: Corruption.
Status CheckPayload(ByteView block, const FilterInfo& info);

/// Corruption: "filter block: <what>".
Status DamagedBlock(const std::string& what);

/// NotSupported, naming the supported versions.
Status UnknownVersion(uint8_t version);

}  // namespace blocksieve::internal
