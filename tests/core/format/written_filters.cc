#include <gtest/gtest.h>

#include <functional>

#include "blocksieve/bloom.h"
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

using MakeFilter = std::function<std::string(uint64_t num_keys, uint64_t hash_seed)>;

MakeFilter Built(FilterKind kind, double target_fpr) {
  return [=](uint64_t num_keys, uint64_t hash_seed) {
    return Copy(
        BuildBlock({.kind = kind, .target_fpr = target_fpr, .hash_seed = hash_seed}, num_keys));
  };
}

// A writer without short footers.
MakeFilter LongRibbon(double target_fpr) {
  return [=](uint64_t num_keys, uint64_t hash_seed) {
    internal::HashList hashes(0);
    for (uint64_t i = 0; i < num_keys; ++i) hashes.Append(HashKey(PresentKey(i), hash_seed));
    const Layout layout = Must(ChooseLayout(FilterKind::kRibbon, target_fpr));
    const Layout row = internal::NearestRibbonLayout(layout);
    std::string block(internal::RibbonCapacity(row, num_keys), '\0');
    FilterInfo info = internal::kRibbonKind.building->plan(layout, num_keys, hash_seed);
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

template <class Filter>
std::string WithKeys(Filter filter, uint64_t num_keys) {
  for (uint64_t i = 0; i < num_keys; ++i) filter.Add(PresentKey(i));
  return BlockOf(filter);
}

MakeFilter Classic(const BloomLayout& layout) {
  return [layout](uint64_t num_keys, uint64_t) {
    return WithKeys(*ClassicBloom::Create(layout), num_keys);
  };
}

MakeFilter Counting(const BloomLayout& layout, uint32_t counter_bits = 4) {
  return [=](uint64_t num_keys, uint64_t) {
    return WithKeys(*CountingBloom::Create(layout, counter_bits), num_keys);
  };
}

struct FilterRow {
  std::string name;
  MakeFilter make;
  uint64_t num_keys;
  uint64_t hash_seed;
  uint64_t file_hash;
  std::string false_positives;  // the first five absent keys that match, of 20,000
};

std::vector<FilterRow> FilterRows() {
  constexpr auto kBloom = FilterKind::kBlockedBloom;
  constexpr auto kRibbon = FilterKind::kRibbon;
  const BloomLayout small = *BloomLayout::ForBits(100, 4);
  const BloomLayout large = *BloomLayout::ForKeys(1000, 0.01, 42);
  return {
      {"bloom_empty", Built(kBloom, 0.01), 0, 0, 0x46daddbee350498f, ""},
      {"bloom_3_keys", Built(kBloom, 0.01), 3, 0, 0x83155100eb75530c, ""},
      {"bloom_1000_keys", Built(kBloom, 0.01), 1000, 0, 0xcc68016ba44b32fc, "180 188 196 368 623 "},
      {"bloom_seeded", Built(kBloom, 0.3), 1000, 42, 0x17d255ae4de02537, "4 18 21 27 30 "},
      {"bloom_1e-6", Built(kBloom, 1e-6), 1000, 0, 0x105e525ca5200ff2, ""},
      // Large enough for padding.
      {"bloom_700000_keys", Built(kBloom, 0.5), 700'000, 0, 0x0b9486432841a399, "2 5 6 7 8 "},
      {"ribbon_empty", Built(kRibbon, 0.01), 0, 0, 0x1d434c7fe3dfcbbe, ""},
      {"ribbon_3_keys", LongRibbon(0.01), 3, 0, 0x58324e109d544a5f, "193 218 532 675 1096 "},
      {"ribbon_1000_keys", LongRibbon(0.01), 1000, 0, 0xab819211303f6f96, "2 56 460 465 568 "},
      {"ribbon_seeded", Built(kRibbon, 0.3), 1000, 42, 0x72532e4008bbfc91, "0 4 12 15 16 "},
      {"ribbon_1e-7", LongRibbon(1e-7), 1000, 0, 0x55870c72ef57cca1, ""},
      // The same with short footers; at 1/256, all segments have the same width.
      {"ribbon_short_3_keys", Built(kRibbon, 0.01), 3, 0, 0x87fff33f79387399,
       "193 218 532 675 1096 "},
      {"ribbon_short_1000_keys", Built(kRibbon, 0.01), 1000, 0, 0xcbc78fa91f72422e,
       "2 56 460 465 568 "},
      {"ribbon_short_300_keys", Built(kRibbon, 1.0 / 256), 300, 0, 0xef75366ec9b769e0,
       "11 15 26 36 117 "},
      {"ribbon_short_1e-7", Built(kRibbon, 1e-7), 1000, 0, 0x89142e3115e06c59, ""},
      // Several chunks; and enough chunks for bases in the directory, with padding.
      {"ribbon_10000_keys", Built(kRibbon, 0.01), 10'000, 0, 0x8bab28b8a8103f90,
       "54 149 184 200 237 "},
      {"ribbon_1100000_keys", Built(kRibbon, 0.5), 1'100'000, 0, 0x7664aa6157ffa627,
       "2 3 6 10 11 "},
      // The filters of 3 keys are the worked examples of lib/FORMAT.md.
      {"classic_empty", Classic(small), 0, 0, 0xb0eec1e174720b9c, ""},
      {"classic_3_keys", Classic(small), 3, 0, 0xdad3626c29ce123b, "5534 "},
      {"classic_1000_keys", Classic(large), 1000, 42, 0x985eb59dcea97672, "7 44 112 172 352 "},
      {"counting_empty", Counting(small), 0, 0, 0x4d99bce4813e8672, ""},
      {"counting_3_keys", Counting(small), 3, 0, 0xe931fe2631ceceaf, "5534 "},
      {"counting_1000_keys", Counting(large, 8), 1000, 42, 0x072ac43cf95eea39, "7 44 112 172 352 "},
      {"counting_16_bits", Counting(*BloomLayout::ForBits(203, 5, 77), 16), 20, 77, 0, ""},
  };
}

class WrittenFilter : public WrittenBlock {
 public:
  explicit WrittenFilter(const FilterRow& row)
      : WrittenBlock(row.name, ".filter", row.file_hash), row_(row) {}

  std::string Make() const override { return row_.make(row_.num_keys, row_.hash_seed); }

  void ExpectGoldenAnswers(ByteView block, Kernel kernel) const override {
    const Filter reader = internal::FilterAccess::Open(block, kernel);
    ASSERT_NE(reader.state(), Filter::State::kUnreadable);
    EXPECT_EQ(reader.state() == Filter::State::kEmpty, row_.num_keys == 0);
    EXPECT_EQ(reader.hash_seed(), row_.hash_seed);
    for (uint64_t i = 0; i < row_.num_keys; ++i) ASSERT_TRUE(reader.MayContain(PresentKey(i))) << i;
    std::string found;
    int num_found = 0;
    for (uint64_t i = 0; i < 20'000 && num_found < 5; ++i) {
      if (!reader.MayContain(AbsentKey(i))) continue;
      found += std::to_string(i) + " ";
      ++num_found;
    }
    EXPECT_EQ(found, row_.false_positives);
    ExpectReadAsWritten<ClassicBloom>(reader, FilterKind::kClassicBloom, block);
    ExpectReadAsWritten<CountingBloom>(reader, FilterKind::kCountingBloom, block);
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

  Status Verify(ByteView bytes) const override {
    Status status = Filter::Verify(bytes);
    EXPECT_FALSE(!status.ok() && ClassicBloom::Deserialize(bytes).ok());
    EXPECT_FALSE(!status.ok() && CountingBloom::Deserialize(bytes).ok());
    return status;
  }

  std::string ProbeAll(ByteView bytes, Kernel kernel) const override {
    constexpr size_t kProbes = 66;
    const Filter reader = internal::FilterAccess::Open(bytes, kernel);
    std::vector<uint64_t> hashes{0, ~uint64_t{0}};  // the ends of the filter
    for (uint64_t state = HashKey(AsText(bytes)); hashes.size() < kProbes;) {
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

  void UseAll(ByteView bytes) const override {
    static_cast<void>(Filter::Verify(bytes));
    AddTo(ClassicBloom::Deserialize(bytes));
    AddTo(CountingBloom::Deserialize(bytes));
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

  // Filters that take further keys keep their layout, also if they are empty.
  template <class Bloom>
  static void ExpectReadAsWritten(const Filter& reader, FilterKind kind, ByteView block) {
    const Result<Bloom> read = Bloom::Deserialize(block);
    ASSERT_EQ(read.ok(), DescribeFilterBlock(block)->kind == kind);
    if (!read.ok()) return;
    EXPECT_TRUE(BlockOf(*read) == AsText(block));
    for (uint64_t i = 0; i < 4000; ++i) {
      ASSERT_EQ(read->MayContain(KeyNumber(i)), reader.MayContain(KeyNumber(i))) << i;
    }
  }

  // Keys can be added to a filter that was read.
  template <class Filter>
  static void AddTo(Result<Filter> filter) {
    if (!filter.ok()) return;
    filter->Add("key");
    EXPECT_TRUE(filter->MayContain("key"));
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
