#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "blocksieve/filter.h"
#include "blocksieve/sizing.h"
#include "blocksieve/status.h"
#include "lib/base/coding.h"

// The layout of filter blocks. lib/FORMAT.md is normative.
//
//   long    points | [prefixes] | [ranges] | fields | field bytes (1) | checksum (4) | tail (6)
//   short   points | fields of the kind | checksum (3) | tail (6)
//   tail    tag (1) | zeros (5)
//
//   fields: kind and flags (1), keys (varint), checksum of the points (4),
//           [prefix bytes (varint), their checksum (4)], [range bytes (varint), their checksum
//           (4)], fields of the kind
//
// The points are the key filter of a kind (lib/filter/kinds.h), prefixes and ranges are
// sections for range queries. The checksum of a long block covers fields and field bytes, so that
// it opens in constant time; that of a short one covers all before it.

namespace blocksieve {

/// Blocks are shorter than this: RocksDB's readers cast their sizes to 32 bits.
inline constexpr uint64_t kMaxFilterBlockBytes = UINT64_C(0xffffffff);

namespace internal {

/// Answer "no" to everything, for the filter of no keys, and "may match", for unreadable blocks.
extern const ProbeOps kNothingMatches;
extern const ProbeOps kEverythingMatches;

/// Bytes of a footer in a fixed buffer: functions that compute its size must not fail.
template <size_t kMax>
class FixedBytes {
 public:
  void push_back(char byte) noexcept { append(&byte, 1); }
  void append(const char* bytes, size_t count) noexcept {
    assert(count <= kMax - size_);
    std::memcpy(bytes_.data() + size_, bytes, count);
    size_ += count;
  }
  size_t size() const noexcept { return size_; }
  ByteView view() const noexcept { return {bytes_.data(), size_}; }

 private:
  std::array<uint8_t, kMax> bytes_;
  size_t size_ = 0;
};

/// The fields of a kind: at most 31 bytes of a ribbon, as large as sizing computes.
using FieldBytes = FixedBytes<32>;

/// Maximum size of a footer: 33 bytes of any kind, those of the kind, and 11 of the end.
inline constexpr size_t kMaxFooterBytes = 80;

/// Maximum size of a short block, so that opening takes constant time.
inline constexpr size_t kMaxShortBytes = 4096;

/// Why a block is unreadable. Static texts: a filter may be opened for a single probe.
struct Problem {
  const char* text = nullptr;  ///< Null: none.
  bool is_newer = false;       ///< Whether a later version of this library may read it.

  explicit operator bool() const noexcept { return text != nullptr; }
};

/// Corruption or NotSupported: "filter block: <text>". Throws std::bad_alloc.
Status ToStatus(const Problem& problem);

/// The parts of a block, which must outlive it.
struct Footer {
  FilterKind kind = FilterKind::kNone;
  bool is_short = false;
  bool holds_keys = true;  ///< False: the points are hashes of prefixes only.
  /// 0: no keys, no key may match. In a short block the kind derives it from its fields.
  uint64_t num_keys = 0;
  ByteView points;  ///< In a short block, the fields of the kind are at the end.
  ByteView fields;  ///< Of the kind; empty in a short block.
  ByteView prefixes;
  ByteView ranges;
  uint32_t points_checksum = 0;
  uint32_t prefixes_checksum = 0;
  uint32_t ranges_checksum = 0;

  bool is_empty() const noexcept { return num_keys == 0 && !is_short; }
};

/// Reads and checks a footer in constant time.
Problem ParseFooter(ByteView block, Footer* footer) noexcept;

/// Compares the checksums of points and sections, in time linear in their size.
Problem VerifySections(const Footer& footer) noexcept;

/// What building the points of a block takes, as far as it is known before, and what was built.
struct BlockPlan {
  FilterKind kind = FilterKind::kNone;
  bool holds_keys = true;        ///< See Footer.
  uint64_t num_keys = 0;         ///< 0: there are no points.
  uint64_t points_bytes = 0;     ///< Size, with padding; expected until they are built.
  uint64_t excess_bytes = 0;     ///< Maximum by which the real size exceeds it.
  uint32_t padding_bytes = 0;    ///< At the front, so that a reader's lines are aligned.
  uint64_t capacity = 0;         ///< Bytes that building writes to, with padding.
  uint64_t working_bytes = 0;    ///< Memory besides the hashes and those bytes.
  bool copies_hashes = false;    ///< Whether building copies hashes that must be kept.
  FieldBytes fields = {};        ///< Fields of the kind, expected until they are built.
  FieldBytes short_fields = {};  ///< The same in a short block; empty if it must be long.
};

/// Bytes that follow the points: sections, empty if there are none, and footer.
uint64_t BytesAfterPoints(const BlockPlan& plan, std::string_view prefixes,
                          std::string_view ranges) noexcept;

/// Completes a block that starts with its points: appends sections and footer, a short one if
/// possible, and cuts the block to its size. REQUIRES: the block has room for BytesAfterPoints
void FinishBlock(const BlockPlan& plan, std::string_view prefixes, std::string_view ranges,
                 OwnedBytes* block) noexcept;

}  // namespace internal
}  // namespace blocksieve
