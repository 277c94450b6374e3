// SPDX-License-Identifier: Apache-2.0
#include "blocksieve/hash.h"
#include "lib/base/block_memory.h"
#include "lib/base/coding.h"
#include "lib/ribbon/kind.h"
#include "tests/core/format/written_block.h"
#include "tests/core/range/range_test_keys.h"
#include "tests/support/reseal.h"

namespace blocksieve::testing {
namespace {

using Keys = std::vector<std::string>;
using MakeKeys = std::function<Keys()>;

MakeKeys Numbered(uint64_t count) {
  return [=] {
    Keys keys;
    for (uint64_t i = 0; i < count; ++i) keys.push_back(PresentKey(i));
    return keys;
  };
}

MakeKeys Tenants(size_t tenants, size_t keys_each) {
  return [=] {
    Random random(tenants);
    Keys keys;
    for (size_t tenant = 0; tenant < tenants; ++tenant) {
      std::string prefix = Formatted("%016llx", random());
      prefix += Formatted("%016llx/", random());
      for (size_t i = 0; i < keys_each; ++i)
        keys.push_back(prefix + Formatted("%010llu", random() % 5'000'000'000));
    }
    return keys;
  };
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

// By a writer without short footers.
std::string LongRibbon(const Keys& keys, double target_fpr) {
  internal::HashList hashes(0);
  for (const std::string& key : keys) hashes.Append(HashKey(key));
  const Layout layout = Must(ChooseLayout(FilterKind::kRibbon, target_fpr));
  internal::BlockPlan plan = internal::RibbonKind::Plan(layout, keys.size());
  OwnedBytes block = internal::AllocateBlock(plan.capacity + internal::kMaxFooterBytes, 0);
  EXPECT_EQ(internal::RibbonKind::Build(&hashes, true, layout, block.data(), &plan), "");
  plan.short_fields = {};
  internal::FinishBlock(plan, {}, {}, &block);
  return Copy(block);
}

struct FilterRow {
  std::string name;
  MakeKeys keys;
  FilterOptions options;
  uint64_t file_hash;
  std::string false_positives;  // among absent numbers
  uint64_t answers_hash = 0;    // XXH3 of the answers to queries of ranges near keys; 0: of no use
  bool has_long_footer = false;
};

std::vector<FilterRow> FilterRows() {
  constexpr auto kBloom = FilterKind::kBlockedBloom;
  constexpr auto kRibbon = FilterKind::kRibbon;
  const auto points = [](FilterKind kind, double target_fpr) {
    return FilterOptions{.kind = kind, .target_fpr = target_fpr};
  };
  const auto ranges = [](FilterKind kind, double range_fpr) {
    return FilterOptions{.kind = kind, .ranges = true, .range_fpr = range_fpr, .prefix_fpr = 1e-4};
  };
  FilterOptions text = ranges(kBloom, 0.1);
  text.is_partition = true;
  FilterOptions partition = ranges(kBloom, 0.03);
  partition.is_partition = true;
  partition.prefixes = "lengths:3,7";  // of two hashes
  FilterOptions fields = ranges(kRibbon, 0.015);
  fields.prefixes = "fields:32*,1,4*";
  return {
      {"bloom_empty", Numbered(0), points(kBloom, 0.01), 0xed763a0694a76619, ""},
      {"bloom_3_keys", Numbered(3), points(kBloom, 0.01), 0x40036d790616711b, ""},
      {"bloom_1000_keys", Numbered(1000), points(kBloom, 0.01), 0x88e05889e1c01959,
       "16 141 267 320 533 "},
      {"bloom_1e-6", Numbered(1000), points(kBloom, 1e-6), 0xe159a5bb222ee136, ""},
      // Large enough for padding.
      {"bloom_700000_keys", Numbered(700'000), points(kBloom, 0.5), 0x7025759533fb1bac,
       "1 3 6 9 11 "},
      {"ribbon_empty", Numbered(0), points(kRibbon, 0.01), 0xe5d14a49ec88adeb, ""},
      {"ribbon_3_keys", Numbered(3), points(kRibbon, 0.01), 0xa1f852811cfbe7e0,
       "66 348 424 640 774 ", 0, true},
      {"ribbon_1000_keys", Numbered(1000), points(kRibbon, 0.01), 0xf197c4346f5c3005,
       "166 316 398 505 585 ", 0, true},
      {"ribbon_1e-7", Numbered(1000), points(kRibbon, 1e-7), 0x08082f62f85208e0, "", 0, true},
      // The same with short footers; at 1/256, all segments have the same width.
      {"ribbon_short_3_keys", Numbered(3), points(kRibbon, 0.01), 0x75ca3bea3045c350,
       "66 348 424 640 774 "},
      {"ribbon_short_1000_keys", Numbered(1000), points(kRibbon, 0.01), 0x2abedf35e0b07017,
       "166 316 398 505 585 "},
      {"ribbon_short_300_keys", Numbered(300), points(kRibbon, 1.0 / 256), 0x19509c633096e9f1,
       "27 814 826 934 1026 "},
      {"ribbon_short_1e-7", Numbered(1000), points(kRibbon, 1e-7), 0xa96e5bb72dced960, ""},
      // Several chunks; and enough chunks for bases in the directory, with padding.
      {"ribbon_10000_keys", Numbered(10'000), points(kRibbon, 0.01), 0x8187bf459ecc4798,
       "305 571 625 630 732 "},
      {"ribbon_1100000_keys", Numbered(1'100'000), points(kRibbon, 0.5), 0x0e6dbc1a612bbfd1,
       "0 1 4 6 7 "},
      {"range_6_keys", Few, ranges(kBloom, 0.3), 0x2eadd2595292823f, "", 0xaab530b04b4ad85b},
      {"range_ints", Ints, ranges(kRibbon, 0.015), 0x7bf41d1518e316ee, "60 88 234 247 256 ",
       0x863d401c3664c065},
      {"range_text", Texts, text, 0x37f01453342ec95f, "142 228 518 640 648 ", 0xa0f6b8044afec245},
      {"range_clusters", Tenants(60, 30), ranges(kRibbon, 0.015), 0x285ff48ac54da668,
       "111 459 550 671 754 ", 0xa92986adb21c0513},
      // More keys than fit a leaf.
      {"range_node", Tenants(3, 800), ranges(kBloom, 0.03), 0x0c22a51e335ae03d, "2 90 157 431 545 ",
       0xfa56218020dfac33},
      {"prefix_paths", Paths, FilterOptions{.kind = kRibbon, .prefixes = "delimiter:/"},
       0xa48ecf6a2742401f, "51 192 272 291 371 ", 0x63d9408de790a8a1},
      {"prefix_partition", Texts, partition, 0x973ce6ae72372c53, "43 242 373 489 684 ",
       0x907534175dd4294b},
      {"prefix_fields", Tenants(60, 30), fields, 0xec65586c0b1394dc, "38 99 134 174 456 ",
       0xd1d513e93a38a56b},
  };
}

class WrittenFilter : public WrittenBlock {
 public:
  explicit WrittenFilter(const FilterRow& row)
      : WrittenBlock(row.name, ".filter", row.file_hash), row_(row) {}

  std::string Make() const override {
    if (row_.has_long_footer) return LongRibbon(keys(), row_.options.target_fpr);
    FilterBuilder builder = MakeBuilder(row_.options);
    for (const std::string& key : keys()) builder.AddKey(key);
    const FinishedFilter filter = Must(builder.Finish());
    EXPECT_EQ(filter.no_ranges_reason, "");
    return Copy(filter.block);
  }

  void ExpectGoldenAnswers(ByteView block, Kernel kernel) const override {
    const Filter filter = internal::OpenFilter(block, kernel);
    ASSERT_NE(filter.state(), Filter::State::kUnreadable);
    EXPECT_EQ(filter.state() == Filter::State::kEmpty, keys().empty());
    for (const std::string& key : keys()) ASSERT_TRUE(filter.MayContain(key)) << key;
    EXPECT_EQ(FirstFalsePositives(filter), row_.false_positives);
    EXPECT_EQ(filter.answers_ranges(), answers_ranges());
    const FilterDescription info = Must(DescribeFilter(block));
    EXPECT_EQ(info.num_range_keys, row_.options.ranges ? keys().size() : 0);
    EXPECT_EQ(info.prefix_rule, row_.options.prefixes);
    if (answers_ranges()) {
      EXPECT_EQ(WideChecksum(AsBytes(AnswersNearKeys(filter))), row_.answers_hash);
    }
  }

  /// Members match point lookups, and ranges of just that key.
  uint64_t CountDenied(ByteView block) const override {
    const Filter filter = Filter::Open(block);
    uint64_t denied = 0;
    for (size_t i = 0; i < 3; ++i) {
      const std::string& key = keys()[i];
      denied += !filter.MayContain(key) || !filter.MayContainRange(key, key + '\0');
    }
    return denied;
  }

  bool Opens(ByteView bytes) const override {
    const Filter filter = Filter::Open(bytes);
    const bool has_points = filter.state() != Filter::State::kUnreadable;
    const bool has_ranges = filter.answers_ranges();  // also where this one has none
    // A description needs the sections, too, without which keys are answered.
    EXPECT_TRUE(has_points || !DescribeFilter(bytes).ok());
    if (!has_points || !has_ranges) {
      const std::string answers = ProbeAll(bytes, ActiveKernel());
      EXPECT_TRUE(has_points || answers.find('0') == std::string::npos) << "no key is denied";
      EXPECT_TRUE(has_ranges || answers.find_first_of("nb") == std::string::npos)
          << "no range is denied";
    }
    return has_points || has_ranges;
  }

  Status Verify(ByteView bytes) const override { return Filter::Verify(bytes); }

  std::string ProbeAll(ByteView bytes, Kernel kernel) const override {
    constexpr size_t kProbes = 66;
    const Filter filter = internal::OpenFilter(bytes, kernel);
    Random random(WideChecksum(bytes));
    std::vector<uint64_t> hashes{0, ~uint64_t{0}};  // the ends of the filter
    while (hashes.size() < kProbes) hashes.push_back(random());
    bool in_batch[kProbes];
    filter.points().MayContainHashes(hashes, in_batch);
    std::string answers;
    for (size_t i = 0; i < kProbes; ++i) {
      answers += filter.points().MayContainHash(hashes[i]) ? '1' : '0';
      EXPECT_EQ(answers.back(), in_batch[i] ? '1' : '0');
    }
    AppendAnswer(filter.QueryRange("", std::string(300, '\xff')), &answers);
    for (int i = 0; answers_ranges() && i < 20; ++i) {
      // Half of them are within the keys' shared bytes.
      std::string begin = keys()[random() % keys().size()];
      const size_t at = random() % (begin.size() + 1);
      std::string end = random() % 2 == 0 ? begin : keys()[random() % keys().size()];
      if (at < begin.size()) begin[at] = static_cast<char>(begin[at] - random() % 3);
      end.push_back(static_cast<char>(random()));
      AppendAnswer(filter.QueryRange(begin, end), &answers);
      AppendAnswer(filter.QueryRange(begin.substr(0, at), end), &answers);
    }
    return answers;
  }

  void UseAll(ByteView bytes) const override {
    static_cast<void>(DescribeFilter(bytes));
    static_cast<void>(Filter::Verify(bytes));
  }

  std::optional<std::string> Reseal(ByteView bytes) const override {
    return ResealFilterBlock(bytes);
  }

  // Those of a short ribbon are a byte, if it is mixed, and a word.
  Range Fields(ByteView block) const override {
    if (IsShort(block)) return {VersionAt(block) - 6, VersionAt(block) - 3};
    const size_t end = VersionAt(block) - 4;
    return {end - 1 - block[end - 1], end};
  }
  size_t VersionAt(ByteView block) const override { return block.size() - 6; }
  uint8_t NewerVersion(ByteView block) const override { return IsShort(block) ? 0xbf : 0xb2; }
  std::string NewerText(ByteView block) const override {
    return IsShort(block) ? "kind is unknown" : "later version";
  }
  size_t UncheckedBytes(ByteView block) const override {
    return IsShort(block) ? 0 : Fields(block).begin;
  }

 private:
  bool IsShort(ByteView block) const { return (block[VersionAt(block)] & 8) != 0; }
  bool answers_ranges() const { return row_.answers_hash != 0; }

  const Keys& keys() const {
    if (keys_.empty()) keys_ = SortedDistinct(row_.keys());
    return keys_;
  }

  static void AppendAnswer(RangeAnswer answer, std::string* answers) {
    answers->push_back("mnb"[static_cast<size_t>(answer)]);
  }

  // Answers for each key to ranges right after it, and to some near it.
  std::string AnswersNearKeys(const Filter& filter) const {
    std::string answers;
    const auto query = [&](const std::string& begin, const std::string& end) {
      AppendAnswer(filter.QueryRange(begin, end), &answers);
    };
    for (size_t i = 0; i < keys().size(); ++i) {
      const std::string& key = keys()[i];
      const std::string after = key + '\0';
      EXPECT_EQ(filter.QueryRange(key, after), RangeAnswer::kMayMatch) << key;
      query(after, after + '\0');
      query(after, i + 1 < keys().size() ? keys()[i + 1] : key + '\xff');
      for (size_t at = 0; at < key.size(); ++at) {
        std::string begin = key;
        begin[at] = static_cast<char>(begin[at] + static_cast<char>(i % 7) - 3);
        query(begin, begin + '\0');
        query(begin, begin.substr(0, at + 1) + '\xff');
      }
    }
    return answers;
  }

  const FilterRow row_;
  mutable Keys keys_;  // made when they are needed
};

}  // namespace

std::vector<WrittenBlockPtr> WrittenFilters() {
  std::vector<WrittenBlockPtr> all;
  for (const FilterRow& row : FilterRows()) all.push_back(std::make_shared<WrittenFilter>(row));
  return all;
}

}  // namespace blocksieve::testing
