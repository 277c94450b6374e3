#include <gtest/gtest.h>

#include <functional>

#include "blocksieve/filter.h"
#include "blocksieve/hash.h"
#include "lib/base/block_memory.h"
#include "lib/base/kernels.h"
#include "lib/block/footer.h"
#include "lib/filter/open.h"
#include "lib/hash/checksum.h"
#include "lib/ribbon/family.h"
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
    const internal::PointPlan plan = internal::RibbonFamily::Plan(layout, num_keys);
    OwnedBytes block = internal::AllocateBlock(plan.capacity + internal::kMaxFooterBytes, 0);
    const internal::BuiltPoints built =
        internal::RibbonFamily::Build(&hashes, true, layout, block.data());
    internal::FinishBlock({.kind = FilterKind::kRibbon,
                           .num_keys = num_keys,
                           .points_bytes = built.points_bytes,
                           .fields = built.fields},
                          &block);
    return Copy(block);
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
      {"bloom_empty", Built(kBloom, 0.01), 0, 0xed763a0694a76619, ""},
      {"bloom_3_keys", Built(kBloom, 0.01), 3, 0x40036d790616711b, ""},
      {"bloom_1000_keys", Built(kBloom, 0.01), 1000, 0x88e05889e1c01959, "16 141 267 320 533 "},
      {"bloom_1e-6", Built(kBloom, 1e-6), 1000, 0xe159a5bb222ee136, ""},
      // Large enough for padding.
      {"bloom_700000_keys", Built(kBloom, 0.5), 700'000, 0x7025759533fb1bac, "1 3 6 9 11 "},
      {"ribbon_empty", Built(kRibbon, 0.01), 0, 0xe5d14a49ec88adeb, ""},
      {"ribbon_3_keys", LongRibbon(0.01), 3, 0xa1f852811cfbe7e0, "66 348 424 640 774 "},
      {"ribbon_1000_keys", LongRibbon(0.01), 1000, 0xf197c4346f5c3005, "166 316 398 505 585 "},
      {"ribbon_1e-7", LongRibbon(1e-7), 1000, 0x08082f62f85208e0, ""},
      // The same with short footers; at 1/256, all segments have the same width.
      {"ribbon_short_3_keys", Built(kRibbon, 0.01), 3, 0x75ca3bea3045c350, "66 348 424 640 774 "},
      {"ribbon_short_1000_keys", Built(kRibbon, 0.01), 1000, 0x2abedf35e0b07017,
       "166 316 398 505 585 "},
      {"ribbon_short_300_keys", Built(kRibbon, 1.0 / 256), 300, 0x19509c633096e9f1,
       "27 814 826 934 1026 "},
      {"ribbon_short_1e-7", Built(kRibbon, 1e-7), 1000, 0xa96e5bb72dced960, ""},
      // Several chunks; and enough chunks for bases in the directory, with padding.
      {"ribbon_10000_keys", Built(kRibbon, 0.01), 10'000, 0x8187bf459ecc4798,
       "305 571 625 630 732 "},
      {"ribbon_1100000_keys", Built(kRibbon, 0.5), 1'100'000, 0x0e6dbc1a612bbfd1, "0 1 4 6 7 "},
  };
}

class WrittenFilter : public WrittenBlock {
 public:
  explicit WrittenFilter(const FilterRow& row)
      : WrittenBlock(row.name, ".filter", row.file_hash), row_(row) {}

  std::string Make() const override { return row_.make(row_.num_keys); }

  void ExpectGoldenAnswers(ByteView block, Kernel kernel) const override {
    const Filter reader = internal::OpenFilter(block, kernel);
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
    // A description needs the sections, too, without which keys are answered.
    EXPECT_TRUE(opens || !DescribeFilter(bytes).ok());
    if (!opens) {
      EXPECT_EQ(ProbeAll(bytes, ActiveKernel()).find('0'), std::string::npos) << "no key is denied";
    }
    return opens;
  }

  Status Verify(ByteView bytes) const override { return Filter::Verify(bytes); }

  std::string ProbeAll(ByteView bytes, Kernel kernel) const override {
    constexpr size_t kProbes = 66;
    const Filter reader = internal::OpenFilter(bytes, kernel);
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

  Range Fields(ByteView block) const override { return FieldsOf(block); }
  size_t VersionAt(ByteView block) const override { return TagAt(block); }
  uint8_t NewerVersion(ByteView block) const override { return NewerTag(block); }
  std::string NewerText(ByteView block) const override {
    return IsShort(block) ? "kind is unknown" : "later version";
  }
  size_t UncheckedBytes(ByteView block) const override {
    return IsShort(block) ? 0 : FieldsOf(block).begin;
  }

 private:
  const FilterRow row_;
};

}  // namespace

std::vector<WrittenBlockPtr> WrittenFilters() {
  std::vector<WrittenBlockPtr> all;
  for (const FilterRow& row : FilterRows()) all.push_back(std::make_shared<WrittenFilter>(row));
  return all;
}

}  // namespace blocksieve::testing
