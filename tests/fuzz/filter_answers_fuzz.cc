#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "blocksieve/bloom.h"
#include "blocksieve/filter.h"
#include "lib/base/kernels.h"
#include "lib/block/footer.h"
#include "lib/bloom/blocked_bloom.h"
#include "lib/filter/open.h"
#include "tests/core/ribbon/ribbon_test_builds.h"
#include "tests/fuzz/fuzz.h"

// Any options and any keys: a filter of any kind matches every key that it was built from, and all
// kernels give the same answers for other keys. The same for any hashes, including ones that no
// hash function returns, of which all kernels also build the same bytes.

namespace blocksieve::testing {
namespace {

// Limits of generated keys: distinct keys in a series, and bytes of a key.
constexpr uint32_t kMaxSeries = 1 << 10;
constexpr uint32_t kMaxKeyBytes = 1 << 12;

std::vector<std::string> AnyKeys(Input* input) {
  std::vector<std::string> keys;
  while (!input->empty()) {
    switch (input->Below(8)) {
      case 0: {
        const uint32_t count = input->Number<uint16_t>() % kMaxSeries;
        const std::string prefix(input->Text());
        for (uint32_t i = 0; i < count; ++i) keys.push_back(prefix + std::to_string(i));
        break;
      }
      case 1: {
        const uint32_t length = input->Number<uint16_t>() % kMaxKeyBytes;
        keys.emplace_back(length, static_cast<char>(input->Number<uint8_t>()));
        break;
      }
      case 2:
        if (!keys.empty()) keys.push_back(keys[input->Below(std::min<size_t>(keys.size(), 256))]);
        break;
      default:
        keys.emplace_back(input->Text());
    }
  }
  return keys;
}

double AnyFpr(Input* input) {
  constexpr double kFprs[] = {0.01, 0.5, 0.3, 0.1, 0.02, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1, 0};
  return kFprs[input->Below(std::size(kFprs))];
}

void CheckAnswers(ByteView block, const std::vector<std::string>& keys) {
  Require(HasFilterBlockTail(block), "a block ends in zeros");
  Require(Filter::Verify(block).ok(), "a finished block is sound");
  std::vector<std::string> others;
  others.reserve(keys.size());
  for (const std::string& key : keys) others.push_back(key + '\1');
  std::vector<std::string_view> views(keys.begin(), keys.end());
  views.insert(views.end(), others.begin(), others.end());
  const auto answers = std::make_unique<bool[]>(views.size());
  std::vector<char> expected;
  for (const Kernel kernel : internal::AvailableKernels()) {
    const Filter reader = internal::OpenFilter(block, kernel);
    Require(reader.state() == (keys.empty() ? Filter::State::kEmpty : Filter::State::kReady),
            "a finished block can be read");
    reader.MayContain(views, answers.get());
    std::vector<char> singly;
    for (size_t i = 0; i < views.size(); ++i) {
      Require(answers[i] || i >= keys.size(), "every key matches");
      singly.push_back(reader.MayContain(views[i]));
      Require(answers[i] == (singly[i] != 0), "a batch answers as single probes do");
    }
    if (expected.empty()) expected = singly;
    Require(singly == expected, "all kernels give the same answers");
  }
}

void TryBuilder(FilterKind kind, Input* input) {
  FilterOptions options;
  options.kind = kind;
  options.target_fpr = AnyFpr(input);
  options.keep_hashes = input->Flag();
  options.max_build_bytes = input->Flag() ? input->Number<uint16_t>() : 0;
  Result<FilterBuilder> builder = FilterBuilder::Create(options);
  if (!builder.ok()) {
    Require(options.target_fpr > kMaxTargetFpr || options.target_fpr < kMinTargetFpr,
            "valid options make a builder");
    return;
  }
  const std::vector<std::string> keys = AnyKeys(input);
  for (const std::string& key : keys) builder->AddKey(key);
  const Result<FinishedFilter> built = builder->Finish();
  if (!built.ok()) {
    Require(options.max_build_bytes != 0, "without a limit a filter is built");
    return;
  }
  CheckAnswers(built->block.view(), keys);
  if (options.keep_hashes)
    Require(builder->VerifyBuilt(built->block.view()).ok(), "it is verified");
}

// A number of cells, which these keys may or may not fill up.
Result<BloomLayout> AnyLayout(Input* input) {
  const uint64_t seed = input->Number<uint64_t>();
  if (input->Flag()) {
    return BloomLayout::ForKeys(input->Number<uint16_t>(), AnyFpr(input), seed);
  }
  return BloomLayout::ForBits(input->Number<uint16_t>(),
                              static_cast<uint32_t>(input->Below(kMaxBloomProbes + 2)), seed);
}

template <class Bloom>
void CheckReadAsWritten(const Bloom& filter, const std::vector<std::string>& keys) {
  const Result<OwnedBytes> bytes = filter.Serialize();
  const Result<Bloom> read = Bloom::Deserialize(bytes->view());
  Require(read.ok() && AsText(read->Serialize()->view()) == AsText(bytes->view()),
          "a written filter can be read");
  for (const std::string& key : keys) Require(read->MayContain(key), "every key matches");
}

void TryClassic(Input* input) {
  const Result<BloomLayout> layout = AnyLayout(input);
  if (!layout.ok()) return;
  Result<ClassicBloom> filter = ClassicBloom::Create(*layout);
  const std::vector<std::string> keys = AnyKeys(input);
  for (const std::string& key : keys) filter->Add(key);
  CheckReadAsWritten(*filter, keys);
}

// Removes every other key as often as it was added.
void TryCounting(Input* input) {
  const Result<BloomLayout> layout = AnyLayout(input);
  if (!layout.ok()) return;
  Result<CountingBloom> filter = CountingBloom::Create(*layout, 2u << input->Below(4));
  const std::vector<std::string> all = AnyKeys(input);
  for (const std::string& key : all) filter->Add(key);
  std::vector<std::string> keys;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i % 2 == 0) {
      keys.push_back(all[i]);
    } else {
      Require(filter->Remove(all[i]), "added keys can be removed");
    }
  }
  CheckReadAsWritten(*filter, keys);
}

// Hashes from the input, and variants that differ in a few bits.
std::vector<uint64_t> AnyHashes(Input* input) {
  std::vector<uint64_t> hashes;
  while (!input->empty()) {
    const uint64_t hash = input->Number<uint64_t>();
    const uint64_t step = uint64_t{1} << input->Below(64);
    const size_t count = 1 + input->Below(64);
    for (size_t i = 0; i < count; ++i) hashes.push_back(hash + i * step);
  }
  return hashes;
}

void CompareBlooms(const std::vector<uint64_t>& hashes, Input* input) {
  const auto num_probes = static_cast<uint32_t>(1 + input->Below(internal::kMaxLineProbes));
  const uint64_t num_lines = 1 + input->Below(256);
  std::vector<uint8_t> expected;
  for (const Kernel kernel : internal::AvailableKernels()) {
    std::vector<uint8_t> lines(num_lines * internal::kLineBytes);
    internal::BlockedBloomFill(kernel, num_probes)(hashes, num_lines, lines.data());
    if (expected.empty()) expected = lines;
    Require(lines == expected, "all kernels set the same bits");
  }
}

void CompareRibbons(const std::vector<uint64_t>& hashes, Input* input) {
  const auto columns = static_cast<uint32_t>(1 + input->Below(internal::kMaxRibbonColumns - 1));
  const Columns layout(columns, static_cast<double>(input->Below(256)) / 256);
  std::vector<uint8_t> expected;
  for (const Kernel kernel : internal::AvailableKernels()) {
    const std::vector<uint8_t> payload = BuildRibbonOf(hashes, layout, kernel).bytes;
    if (expected.empty()) expected = payload;
    Require(payload == expected, "all kernels solve a ribbon alike");
  }
}

// All kernels find every hash in a filter of any kind.
void CheckFound(const std::vector<uint64_t>& hashes, Input* input) {
  FilterOptions options;
  options.kind = input->Flag() ? FilterKind::kRibbon : FilterKind::kBlockedBloom;
  options.target_fpr = 1.0 / static_cast<double>(2 + input->Number<uint16_t>());
  Result<FilterBuilder> builder = FilterBuilder::Create(options);
  for (const uint64_t hash : hashes) builder->AddHash(hash);
  const Result<FinishedFilter> built = builder->Finish();
  Require(built.ok(), "any hashes make a filter");
  for (const Kernel kernel : internal::AvailableKernels()) {
    const Filter reader = internal::OpenFilter(built->block.view(), kernel);
    Require(reader.state() != Filter::State::kUnreadable, "a finished block can be read");
    for (const uint64_t hash : hashes) Require(reader.MayContainHash(hash), "every hash is found");
  }
}

// The options come before the hashes.
void TryHashes(Input* input) {
  uint8_t options[8];
  for (uint8_t& byte : options) byte = input->Number<uint8_t>();
  Input choices(options);
  const std::vector<uint64_t> hashes = AnyHashes(input);
  CheckFound(hashes, &choices);
  if (hashes.empty()) return;
  CompareBlooms(hashes, &choices);
  CompareRibbons(hashes, &choices);
}

}  // namespace

void TestOneInput(ByteView bytes) {
  Input input(bytes);
  switch (input.Below(5)) {
    case 0:
      return TryClassic(&input);
    case 1:
      return TryBuilder(FilterKind::kBlockedBloom, &input);
    case 2:
      return TryBuilder(FilterKind::kRibbon, &input);
    case 3:
      return TryCounting(&input);
    default:
      return TryHashes(&input);
  }
}

}  // namespace blocksieve::testing
