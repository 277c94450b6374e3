#include <gtest/gtest.h>

#include <functional>

#include "blocksieve/filter.h"
#include "blocksieve/hash.h"
#include "lib/base/kernels.h"
#include "lib/block/filter_info.h"
#include "lib/block/short_block.h"
#include "lib/filter/filter_access.h"
#include "lib/hash/checksum.h"
#include "lib/ribbon/builder.h"
#include "lib/ribbon/sizing.h"
#include "tests/core/filter/test_filters.h"
#include "tests/core/format/written_block.h"
#include "tests/support/reseal.h"

namespace blocksieve::testing {
namespace {

using MakeFilter = std::function<std::string(uint64_t num_keys)>;

MakeFilter Built(FilterKind kind, double target_fpr) {
  return [=](uint64_t num_keys) {
    return Copy(BuildBlock({.kind = kind, .target_fpr = target_fpr}, num_keys));
  };
}

// A writer without short footers.
MakeFilter LongRibbon(double target_fpr) {
  return [=](uint64_t num_keys) {
    internal::HashList hashes(0);
    for (uint64_t i = 0; i < num_keys; ++i) hashes.Append(HashKey(PresentKey(i)));
    const Layout layout = Must(ChooseLayout(FilterKind::kRibbon, target_fpr));
    const Layout row = internal::NearestRibbonLayout(layout);
    std::string block(internal::RibbonCapacity(row, num_keys), '\0');
    FilterInfo info = internal::kRibbonKind.building->plan(layout, num_keys);
    info.ribbon = internal::BuildRibbon(&hashes, true, row, ActiveKernel(),
                                        reinterpret_cast<uint8_t*>(block.data()))
                      .shape;
    info.payload_bytes = info.ribbon.PayloadBytes();
    block.resize(info.payload_bytes);
    info.payload_checksum = Checksum(AsBytes(block));
    const internal::FooterBytes footer = internal::EncodeFooter(info, internal::kRibbonKind.format);
    return block.append(AsText(footer.view()));
  };
}

struct FilterRow {
  std::string name;
  MakeFilter make;
  uint64_t num_keys;
  uint64_t file_hash;
  std::string false_positives;
};

std::vector<FilterRow> FilterRows() {
  constexpr auto kBloom = FilterKind::kBlockedBloom;
  constexpr auto kRibbon = FilterKind::kRibbon;
  return {
      {"bloom_empty", Built(kBloom, 0.01), 0, 0x46daddbee350498f, ""},
      {"bloom_3_keys", Built(kBloom, 0.01), 3, 0x994dc8ef6d106f59, ""},
      {"bloom_1000_keys", Built(kBloom, 0.01), 1000, 0x7fa6ca085521bbe4, "16 141 267 320 533 "},
      {"bloom_1e-6", Built(kBloom, 1e-6), 1000, 0x4c19d5055ceae02d, ""},
      // Large enough for padding.
      {"bloom_700000_keys", Built(kBloom, 0.5), 700'000, 0x4a10119b604a26a2, "1 3 6 9 11 "},
      {"ribbon_empty", Built(kRibbon, 0.01), 0, 0x1d434c7fe3dfcbbe, ""},
      {"ribbon_3_keys", LongRibbon(0.01), 3, 0xf69295ea4244103f, "66 348 424 640 774 "},
      {"ribbon_1000_keys", LongRibbon(0.01), 1000, 0x2fef1067db2d32b2, "166 316 398 505 585 "},
      {"ribbon_1e-7", LongRibbon(1e-7), 1000, 0xcab46f3276802104, ""},
      // The same with short footers; at 1/256, all segments have the same width.
      {"ribbon_short_3_keys", Built(kRibbon, 0.01), 3, 0x07d487ed5207e2e1, "66 348 424 640 774 "},
      {"ribbon_short_1000_keys", Built(kRibbon, 0.01), 1000, 0x1795738ed0c6a7b8,
       "166 316 398 505 585 "},
      {"ribbon_short_300_keys", Built(kRibbon, 1.0 / 256), 300, 0x78ef254768912910,
       "27 814 826 934 1026 "},
      {"ribbon_short_1e-7", Built(kRibbon, 1e-7), 1000, 0xd5ee6bd6b7906e39, ""},
      // Several chunks; and enough chunks for bases in the directory, with padding.
      {"ribbon_10000_keys", Built(kRibbon, 0.01), 10'000, 0x73658e9b4cd3da1f,
       "305 571 625 630 732 "},
      {"ribbon_1100000_keys", Built(kRibbon, 0.5), 1'100'000, 0xe4b4098d67663da2, "0 1 4 6 7 "},
  };
}

class WrittenFilter : public WrittenBlock {
 public:
  explicit WrittenFilter(const FilterRow& row)
      : WrittenBlock(row.name, ".filter", row.file_hash), row_(row) {}

  std::string Make() const override { return row_.make(row_.num_keys); }

  void ExpectGoldenAnswers(ByteView block, Kernel kernel) const override {
    const Filter reader = internal::FilterAccess::Open(block, kernel);
    ASSERT_NE(reader.state(), Filter::State::kUnreadable);
    EXPECT_EQ(reader.state() == Filter::State::kEmpty, row_.num_keys == 0);
    for (uint64_t i = 0; i < row_.num_keys; ++i) ASSERT_TRUE(reader.MayContain(PresentKey(i))) << i;
    EXPECT_EQ(FirstFalsePositives(reader), row_.false_positives);
  }

  uint64_t CountDenied(ByteView block) const override {
    const Filter reader = Filter::Open(block);
    uint64_t denied = 0;
    for (uint64_t i = 0; i < 3; ++i) denied += !reader.MayContain(PresentKey(i));
    return denied;
  }

  bool Opens(ByteView bytes) const override {
    const Filter reader = Filter::Open(bytes);
    const bool opens = reader.state() != Filter::State::kUnreadable;
    EXPECT_EQ(DescribeFilterBlock(bytes).ok(), opens);
    if (!opens) {
      EXPECT_EQ(ProbeAll(bytes, ActiveKernel()).find('0'), std::string::npos) << "no key is denied";
    }
    return opens;
  }

  Status Verify(ByteView bytes) const override { return Filter::Verify(bytes); }

  std::string ProbeAll(ByteView bytes, Kernel kernel) const override {
    constexpr size_t kProbes = 66;
    const Filter reader = internal::FilterAccess::Open(bytes, kernel);
    std::vector<uint64_t> hashes{0, ~uint64_t{0}};  // the ends of the filter
    for (uint64_t state = WideChecksum(bytes); hashes.size() < kProbes;) {
      state = state * 0xd1342543de82ef95 + 1;
      hashes.push_back(state ^ state >> 29);
    }
    bool in_batch[kProbes];
    reader.MayContainHashes(hashes, in_batch);
    std::string answers;
    for (size_t i = 0; i < kProbes; ++i) {
      answers += reader.MayContainHash(hashes[i]) ? '1' : '0';
      EXPECT_EQ(answers.back(), in_batch[i] ? '1' : '0');
    }
    return answers;
  }

  std::optional<std::string> Reseal(ByteView bytes) const override {
    return ResealFilterBlock(bytes);
  }

  Range Fields(ByteView block) const override {
    const size_t checksum_bytes = internal::LooksShort(block) ? 3 : 4;
    return {PayloadBytes(block), block.size() - kZeroTailBytes - checksum_bytes};
  }

  size_t VersionAt(ByteView block) const override {
    return Fields(block).end - (internal::LooksShort(block) ? 1 : 2);
  }

  uint8_t NewerVersion(ByteView block) const override {
    return internal::LooksShort(block) ? 0xBF : WrittenBlock::NewerVersion(block);
  }

  size_t UncheckedBytes(ByteView block) const override {
    return internal::LooksShort(block) ? 0 : PayloadBytes(block);
  }

 private:
  static size_t PayloadBytes(ByteView block) {
    return static_cast<size_t>(DescribeFilterBlock(block)->payload_bytes);
  }

  const FilterRow row_;
};

}  // namespace

std::vector<WrittenBlockPtr> WrittenFilters() {
  std::vector<WrittenBlockPtr> all;
  for (const FilterRow& row : FilterRows()) all.push_back(std::make_shared<WrittenFilter>(row));
  return all;
}

}  // namespace blocksieve::testing
