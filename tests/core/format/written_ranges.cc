#include <gtest/gtest.h>

#include <functional>

#include "blocksieve/filter.h"
#include "lib/base/kernels.h"
#include "lib/block/footer.h"
#include "lib/filter/open.h"
#include "lib/hash/checksum.h"
#include "lib/prefix/prefix_part.h"
#include "lib/prefix/prefix_rule.h"
#include "lib/range/range_filter.h"
#include "tests/core/filter/test_filters.h"
#include "tests/core/format/written_block.h"
#include "tests/core/range/range_test_keys.h"
#include "tests/support/reseal.h"

namespace blocksieve::testing {
namespace {

using Keys = std::vector<std::string>;

struct RangeRow {
  std::string name;
  std::function<Keys()> keys;
  RangePartOptions options;
  uint64_t file_hash;
  uint64_t answers_hash;  // XXH3 of all answers
  FilterKind kind = FilterKind::kBlockedBloom;
  std::string prefixes = {};
  bool has_ranges = true;
};

Keys Tenants(size_t tenants, size_t keys_each) {
  Random random(tenants);
  Keys keys;
  for (size_t tenant = 0; tenant < tenants; ++tenant) {
    std::string prefix = Formatted("%016llx", random());
    prefix += Formatted("%016llx/", random());
    for (size_t i = 0; i < keys_each; ++i)
      keys.push_back(prefix + Formatted("%010llu", random() % 5'000'000'000));
  }
  return keys;
}

// The worked example of lib/FORMAT.md: both kinds of positions, a common prefix, and a cluster.
Keys Few() { return {"k:ant7", "k:bee1", "k:bee2", "k:bee3", "k:bee7", "k:cow0"}; }

Keys Ints() {
  Random random(1);
  Keys keys;
  for (int i = 0; i < 2'000; ++i) keys.push_back(MakeKey(KeyShape::kCounter, random()));
  return keys;
}

// Times of a window whose ends are not round numbers.
Keys Texts() {
  Random random(2);
  Keys keys;
  for (int i = 0; i < 1'500; ++i) {
    keys.push_back(Formatted("u%05llu:", random() % 40'000));
    keys.back() += Formatted("%013llu", 1'690'000'000'000 + random() % 25'000'000'000);
  }
  return keys;
}

// Every path of three small trees.
Keys Paths() {
  Keys keys;
  for (int i = 0; i < 600; ++i) {
    keys.push_back(Formatted("/usr/share/p%03llu/", static_cast<uint64_t>(i * i % 97)));
    keys.back() += Formatted("d%llu/", static_cast<uint64_t>(i % 5)) +
                   Formatted("f%05llu", static_cast<uint64_t>(i * 7919 % 65536));
  }
  return keys;
}

std::vector<RangeRow> RangeRows() {
  constexpr auto kRibbon = FilterKind::kRibbon;
  const RangePartOptions defaults{.range_fpr = 0.015};
  return {
      {"range_6_keys", &Few, {.range_fpr = 0.3}, 0x2eadd2595292823f, 0xe97baeff3163dc8d},
      {"range_ints", &Ints, defaults, 0x7bb41fac21afde6a, 0xd42a67c23ee6d9c6, kRibbon},
      {"range_text",
       &Texts,
       {.range_fpr = 0.1, .is_whole_file = false},
       0xcd73f2af7a52eb3d,
       0xccc9d44e98fc245c},
      {"range_clusters", [] { return Tenants(60, 30); }, defaults, 0x285ff48ac54da668,
       0xb018c1a57760a4d7, kRibbon},
      // More keys than fit a leaf.
      {"range_node",
       [] { return Tenants(3, 800); },
       {.range_fpr = 0.03},
       0x0c22a51e335ae03d,
       0x3a59165d6991760e},
      {"prefix_paths", &Paths, defaults, 0xa48ecf6a2742401f, 0x63d9408de790a8a1, kRibbon,
       "delimiter:/", false},
      {"prefix_partition",
       &Texts,
       {.range_fpr = 0.03, .is_whole_file = false},
       0x5df1f7f0cc141e01,
       0x907534175dd4294b,
       FilterKind::kBlockedBloom,
       "lengths:3,7"},
      {"prefix_fields", [] { return Tenants(60, 30); }, defaults, 0xec65586c0b1394dc,
       0xd1d513e93a38a56b, kRibbon, "fields:32*,1,4*"},
  };
}

class WrittenRange : public WrittenBlock {
 public:
  explicit WrittenRange(const RangeRow& row)
      : WrittenBlock(row.name, ".filter", row.file_hash),
        row_(row),
        keys_(SortedDistinct(row.keys())) {}

  std::string Make() const override {
    const double prefix_fpr = row_.has_ranges ? 1e-4 : 0.01;  // two hashes, or one
    FilterBuilder builder = MakeBuilder({.kind = row_.kind,
                                         .ranges = row_.has_ranges,
                                         .range_fpr = row_.options.range_fpr,
                                         .max_estimated_range_fpr = row_.options.max_estimated_fpr,
                                         .prefixes = row_.prefixes,
                                         .prefix_fpr = prefix_fpr,
                                         .few_prefixes_fpr = 1e-4,
                                         .is_partition = !row_.options.is_whole_file});
    for (const std::string& key : keys_) builder.AddKey(key);
    FinishedFilter filter = Must(builder.Finish());
    EXPECT_EQ(filter.no_ranges_reason, "");
    return Copy(filter.block);
  }

  void ExpectGoldenAnswers(ByteView block, Kernel kernel) const override {
    const Reader reader(block, kernel, row_);
    ASSERT_TRUE(reader.is_ready());
    const FilterDescription info = Must(DescribeFilter(block));
    EXPECT_EQ(info.num_range_keys, row_.has_ranges ? keys_.size() : 0);
    EXPECT_EQ(info.prefix_rule, row_.prefixes);
    const Filter points = internal::OpenFilter(block, kernel);
    std::string answers;
    for (size_t i = 0; i < keys_.size(); ++i) {
      const std::string& key = keys_[i];
      ASSERT_TRUE(points.MayContain(key));
      ASSERT_EQ(reader.Query(key, key + '\0'), RangeAnswer::kMayMatch);
      const std::string after = key + '\0';
      AppendAnswer(reader.Query(after, after + '\0'), &answers);
      AppendAnswer(reader.Query(after, i + 1 < keys_.size() ? keys_[i + 1] : key + '\xff'),
                   &answers);
      for (size_t at = 0; at < key.size(); ++at) {
        std::string begin = key;
        begin[at] = static_cast<char>(begin[at] + static_cast<char>(i % 7) - 3);
        AppendAnswer(reader.Query(begin, begin + '\0'), &answers);
        AppendAnswer(reader.Query(begin, begin.substr(0, at + 1) + '\xff'), &answers);
      }
    }
    EXPECT_EQ(WideChecksum(AsBytes(answers)), row_.answers_hash);
  }

  /// Members match point lookups, and ranges of just that key.
  uint64_t CountDenied(ByteView block) const override {
    const Filter points = Filter::Open(block);
    const Reader ranges(block, ActiveKernel(), row_);
    uint64_t denied = 0;
    for (size_t i = 0; i < 3; ++i) {
      denied += !points.MayContain(keys_[i]);
      denied += ranges.Query(keys_[i], keys_[i] + '\0') != RangeAnswer::kMayMatch;
    }
    return denied;
  }

  bool Opens(ByteView bytes) const override {
    const bool has_points = Filter::Open(bytes).state() != Filter::State::kUnreadable;
    EXPECT_TRUE(has_points || !DescribeFilter(bytes).ok());
    const bool has_ranges = Reader(bytes, ActiveKernel(), row_).is_ready();
    if (!has_ranges) {
      const std::string answers = ProbeAll(bytes, ActiveKernel());
      EXPECT_EQ(answers.find_first_not_of('m'), std::string::npos) << "no range is denied";
    }
    return has_points || has_ranges;
  }

  Status Verify(ByteView bytes) const override { return Filter::Verify(bytes); }

  std::string ProbeAll(ByteView bytes, Kernel kernel) const override {
    const Reader reader(bytes, kernel, row_);
    Random random(WideChecksum(bytes));
    std::string answers;
    for (int i = 0; i < 20; ++i) {
      // Half of them are within the keys' shared bytes.
      std::string begin = keys_[random() % keys_.size()];
      const size_t at = random() % (begin.size() + 1);
      std::string end = random() % 2 == 0 ? begin : keys_[random() % keys_.size()];
      if (at < begin.size()) begin[at] = static_cast<char>(begin[at] - random() % 3);
      end.push_back(static_cast<char>(random()));
      AppendAnswer(reader.Query(begin, end), &answers);
      AppendAnswer(reader.Query(begin.substr(0, at), end), &answers);
    }
    AppendAnswer(reader.Query("", std::string(300, '\xff')), &answers);
    return answers;
  }

  void UseAll(ByteView bytes) const override {
    static_cast<void>(DescribeFilter(bytes));
    static_cast<void>(Filter::Verify(bytes));
  }

  std::optional<std::string> Reseal(ByteView bytes) const override {
    return ResealFilterBlock(bytes);
  }

  Range Fields(ByteView block) const override { return FieldsOf(block); }
  size_t VersionAt(ByteView block) const override { return TagAt(block); }
  uint8_t NewerVersion(ByteView block) const override { return NewerTag(block); }
  std::string NewerText(ByteView) const override { return "later version"; }
  size_t UncheckedBytes(ByteView block) const override { return FieldsOf(block).begin; }

 private:
  // Without prefixes the range part alone: its answers are the golden ones.
  class Reader {
   public:
    Reader(ByteView block, Kernel kernel, const RangeRow& row)
        : filter_(internal::OpenFilter(block, kernel)),
          ranges_(is_ready() ? RangeFilterReader::Open(block, kernel) : RangeFilterReader()),
          has_prefixes_(!row.prefixes.empty()) {}

    bool is_ready() const { return filter_.answers_ranges(); }
    RangeAnswer Query(std::string_view begin, std::string_view end) const {
      if (!has_prefixes_) return ranges_.Query(begin, end);
      return filter_.QueryRange(begin, end);
    }

   private:
    const Filter filter_;
    const RangeFilterReader ranges_;
    const bool has_prefixes_;
  };

  static void AppendAnswer(RangeAnswer answer, std::string* answers) {
    answers->push_back("mnb"[static_cast<size_t>(answer)]);
  }

  const RangeRow row_;
  Keys keys_;
};

}  // namespace

std::vector<WrittenBlockPtr> WrittenRanges() {
  std::vector<WrittenBlockPtr> all;
  for (const RangeRow& row : RangeRows()) all.push_back(std::make_shared<WrittenRange>(row));
  return all;
}

}  // namespace blocksieve::testing
