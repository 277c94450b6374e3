// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "blocksieve/hash.h"
#include "lib/base/coding.h"
#include "tests/core/filter/test_filters.h"
#include "tests/core/format/written_block.h"

namespace blocksieve::testing {
namespace {

struct ContainerRow {
  std::string name;
  BloomLayout layout;
  uint64_t num_keys;
  uint64_t file_hash;
  std::string false_positives;
  uint32_t counter_bits = 4;  // counting filters only
};

/// A serialized filter. `Bloom` is ClassicBloom or CountingBloom.
template <class Bloom>
class WrittenContainer : public WrittenBlock {
 public:
  explicit WrittenContainer(const ContainerRow& row)
      : WrittenBlock(row.name, ".bloom", row.file_hash), row_(row) {}

  std::string Make() const override {
    Bloom filter = [&] {
      if constexpr (kCounts) return Must(CountingBloom::Create(row_.layout, row_.counter_bits));
      if constexpr (!kCounts) return Must(ClassicBloom::Create(row_.layout));
    }();
    for (uint64_t i = 0; i < row_.num_keys; ++i) filter.Add(PresentKey(i));
    return Serialized(filter);
  }

  void ExpectGoldenAnswers(ByteView bytes, Kernel) const override {
    const Bloom filter = Must(Bloom::Deserialize(bytes));
    EXPECT_TRUE(filter.layout().SameBits(row_.layout));
    EXPECT_EQ(filter.layout().design_keys, row_.layout.design_keys);
    for (uint64_t i = 0; i < row_.num_keys; ++i) ASSERT_TRUE(filter.MayContain(PresentKey(i))) << i;
    EXPECT_EQ(FirstFalsePositives(filter), row_.false_positives);
  }

  bool Opens(ByteView bytes) const override {
    using Other = std::conditional_t<kCounts, ClassicBloom, CountingBloom>;
    const bool opens = Bloom::Deserialize(bytes).ok();
    EXPECT_FALSE(opens && Other::Deserialize(bytes).ok());
    return opens;
  }

  Status Verify(ByteView bytes) const override { return Bloom::Deserialize(bytes).status(); }

  std::string ProbeAll(ByteView bytes, Kernel) const override {
    const Bloom filter = Must(Bloom::Deserialize(bytes));
    std::string answers;
    for (uint64_t i = 0; i < 66; ++i) answers += filter.MayContain(KeyNumber(i)) ? '1' : '0';
    for (const uint64_t hash : {uint64_t{0}, ~uint64_t{0}}) {  // the ends of the filter
      answers += filter.MayContainHash(hash) ? '1' : '0';
    }
    return answers;
  }

  // A filter has one form, and keys can be added to one that was read.
  void UseAll(ByteView bytes) const override {
    Bloom filter = Must(Bloom::Deserialize(bytes));
    EXPECT_TRUE(Serialized(filter) == AsText(bytes));
    EXPECT_LE(filter.num_set_cells(), filter.layout().num_bits);
    filter.Add("key");
    EXPECT_TRUE(filter.MayContain("key"));
  }

  std::optional<std::string> Reseal(ByteView bytes) const override {
    if (bytes.size() < sizeof(uint32_t)) return std::nullopt;
    std::string sealed(AsText(bytes.first(bytes.size() - sizeof(uint32_t))));
    AppendLittleEndian(&sealed, Checksum(AsBytes(sealed)));
    return sealed;
  }

  Range Fields(ByteView) const override { return {0, 30}; }

  size_t VersionAt(ByteView) const override { return 3; }

 private:
  static constexpr bool kCounts = std::is_same_v<Bloom, CountingBloom>;
  const ContainerRow row_;
};

}  // namespace

std::vector<WrittenBlockPtr> WrittenContainers() {
  // The filters of 3 keys are the worked examples of lib/FORMAT.md.
  const BloomLayout small = *BloomLayout::ForBits(100, 4);
  const BloomLayout large = *BloomLayout::ForKeys(1000, 0.01, 42);
  const BloomLayout odd = *BloomLayout::ForBits(203, 5, 77);
  std::vector<WrittenBlockPtr> all;
  for (const ContainerRow& row : {
           ContainerRow{"classic_3_keys", small, 3, 0x9fb65811ca640119,
                        "2126 5982 6963 7142 8360 "},
           ContainerRow{"classic_1000_keys", large, 1000, 0x74e3dd79914323ce, "9 206 370 531 586 "},
           ContainerRow{"classic_empty", odd, 0, 0, ""},
       }) {
    all.push_back(std::make_shared<WrittenContainer<ClassicBloom>>(row));
  }
  for (const ContainerRow& row : {
           ContainerRow{"counting_1000_keys", large, 1000, 0xc26d8cb5b96b214b, "9 206 370 531 586 ",
                        8},
           ContainerRow{"counting_2_bits", odd, 20, 0, "", 2},
           ContainerRow{"counting_16_bits", odd, 20, 0, "", 16},
           ContainerRow{"counting_3_keys", small, 3, 0x6f46e130c2f9ffef,
                        "2126 5982 6963 7142 8360 "},
       }) {
    all.push_back(std::make_shared<WrittenContainer<CountingBloom>>(row));
  }
  return all;
}

}  // namespace blocksieve::testing
