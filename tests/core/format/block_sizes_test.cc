#include <cmath>

#include "blocksieve/filter.h"
#include "lib/base/coding.h"
#include "lib/block/footer.h"
#include "lib/prefix/prefix_rule.h"
#include "lib/ribbon/shape.h"
#include "tests/core/filter/test_filters.h"
#include "tests/core/range/range_test_keys.h"

// The footers of the format before this one, which had a version for each combination of sections,
// are a ceiling: no block is larger than it was with the same key filter and sections.

namespace blocksieve::testing {
namespace {

uint64_t VarintBytes(uint64_t value) {
  std::string bytes;
  AppendVarint(&bytes, value);
  return bytes.size();
}

constexpr uint64_t kOldEnd = 3 + 4 + 5;  // field bytes, version, magic; checksum; zeros

uint64_t OldLongFooter(uint64_t num_keys, uint64_t payload_bytes, uint64_t layout_bytes) {
  return 1 + VarintBytes(num_keys) + VarintBytes(payload_bytes) + 4 + layout_bytes + kOldEnd;
}

uint64_t OldRibbonFooter(const internal::RibbonShape& shape, uint64_t num_keys, bool is_wide,
                         uint64_t payload_bytes) {
  const uint64_t narrow = is_wide && !shape.is_mixed() ? 0 : shape.narrow_segments;
  const uint64_t layout_bytes = 1 + VarintBytes(2 * shape.octets) +
                                (shape.chunks > 1 ? VarintBytes(shape.chunks) : 1) +
                                (is_wide ? VarintBytes(narrow) : 0);
  internal::FieldBytes short_fields;
  internal::AppendShortRibbonFields(shape, num_keys, &short_fields);
  const uint64_t short_footer = short_fields.size() + 1 + 3 + 5;
  const bool is_short = short_fields.size() != 0 && short_fields.view().back() != 0xb5 &&
                        payload_bytes + short_footer <= 4096;
  return is_short ? short_footer : OldLongFooter(num_keys, payload_bytes, layout_bytes);
}

// What the block would have taken. `is_wide`: the layout has wide segments.
uint64_t OldBytes(ByteView block, bool is_wide) {
  internal::Footer footer;
  EXPECT_FALSE(internal::ParseFooter(block, &footer));
  const uint64_t num_keys =
      Must(DescribeFilter(block)).num_keys + Must(DescribeFilter(block)).num_prefix_hashes;
  uint64_t payload_bytes = footer.points.size();
  uint64_t points = 0;
  if (footer.kind == FilterKind::kBlockedBloom) {
    points = payload_bytes + OldLongFooter(num_keys, payload_bytes, 2);
  } else {
    internal::RibbonShape shape;
    uint32_t padding_bytes = 0;
    if (footer.is_short) {
      uint64_t derived_keys = 0;
      EXPECT_FALSE(internal::ReadShortRibbonFields(footer.points, &shape, &derived_keys));
      payload_bytes = shape.PayloadBytes();
    } else {
      Decoder fields(footer.fields);
      EXPECT_FALSE(internal::ReadRibbonFields(&fields, &shape, &padding_bytes));
    }
    points = payload_bytes + OldRibbonFooter(shape, num_keys, is_wide, payload_bytes);
  }
  if (footer.prefixes.empty() && footer.ranges.empty()) return points;
  const uint64_t prefix_bytes = footer.prefixes.empty() ? 0 : footer.prefixes.size() + 1;
  const uint64_t range_bytes = footer.ranges.size();
  return points + prefix_bytes + range_bytes + VarintBytes(points) +
         (prefix_bytes == 0 ? 0 : VarintBytes(prefix_bytes)) + VarintBytes(range_bytes) + 4 +
         kOldEnd;
}

struct Sections {
  bool prefixes;
  bool ranges;
};

TEST(BlockSizesTest, NoBlockIsLargerThanInTheFormerFormat) {
  constexpr double kMixed = 0.01;         // 6.625 columns
  constexpr double kUniform = 1.0 / 256;  // 8 columns
  uint64_t num_blocks = 0;
  uint64_t saved = 0;
  for (const FilterKind kind : BuildableKinds()) {
    for (const double target_fpr : {kMixed, kUniform, 1e-7}) {
      const double bits = Must(ChooseLayout(kind, target_fpr)).bits_per_key;
      for (const Sections sections :
           {Sections{false, false}, {true, false}, {false, true}, {true, true}}) {
        for (uint64_t n = 1; n <= 2000; n += n < 140 ? 1 : 13) {
          FilterOptions options{.kind = kind, .target_fpr = target_fpr, .ranges = sections.ranges};
          if (sections.prefixes) options.prefixes = "lengths:12";
          const OwnedBytes block = BuildBlock(options, n);
          const uint64_t old_bytes = OldBytes(block.view(), bits != std::floor(bits));
          ASSERT_LE(block.size, old_bytes) << n << " keys at " << target_fpr;
          saved += old_bytes - block.size;
          ++num_blocks;
        }
      }
    }
  }
  EXPECT_GT(saved, 2 * num_blocks);
}

// Sizes in bytes of blocks, with those of the former format in comments.
TEST(BlockSizesTest, OfSomeBlocks) {
  EXPECT_EQ(BuildBlock(FilterKind::kBlockedBloom, 0.01, 0).size, 12u);       // 19
  EXPECT_EQ(BuildBlock(FilterKind::kBlockedBloom, 0.01, 3).size, 83u);       // 85
  EXPECT_EQ(BuildBlock(FilterKind::kBlockedBloom, 0.01, 1000).size, 1300u);  // 1,303
  EXPECT_EQ(BuildBlock(FilterKind::kRibbon, 0.01, 3).size, 39u);             // 39
}

}  // namespace
}  // namespace blocksieve::testing
