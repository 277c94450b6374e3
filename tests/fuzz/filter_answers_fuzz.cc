#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "blocksieve/bloom.h"
#include "blocksieve/filter.h"
#include "lib/base/kernels.h"
#include "lib/block/filter_info.h"
#include "lib/filter/filter_access.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"

// Any options and any keys: a filter of any kind matches every key that it was built from, and all
// kernels give the same answers for other keys.

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
    const Filter reader = internal::FilterAccess::Open(block, kernel);
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
  options.hash_seed = input->Number<uint64_t>();
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
  const Result<OwnedBytes> block = builder->Finish();
  if (!block.ok()) {
    Require(options.max_build_bytes != 0, "without a limit a filter is built");
    return;
  }
  CheckAnswers(block->view(), keys);
  if (options.keep_hashes) Require(builder->VerifyBuilt(block->view()).ok(), "it is verified");
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

void TryClassic(Input* input) {
  const Result<BloomLayout> layout = AnyLayout(input);
  if (!layout.ok()) return;
  Result<ClassicBloom> filter = ClassicBloom::Create(*layout);
  const std::vector<std::string> keys = AnyKeys(input);
  for (const std::string& key : keys) filter->Add(key);
  const Result<OwnedBytes> block = filter->Serialize();
  CheckAnswers(block->view(), keys);
  const Result<ClassicBloom> again = ClassicBloom::Deserialize(block->view());
  Require(again->num_set_cells() == filter->num_set_cells(), "a written filter can be read");
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
  for (const std::string& key : keys) Require(filter->MayContain(key), "every key is contained");
  // Saturated counters stay, even if all keys are removed.
  if (!keys.empty()) CheckAnswers(filter->Serialize()->view(), keys);
}

}  // namespace

void TestOneInput(ByteView bytes) {
  Input input(bytes);
  switch (const auto kind = static_cast<FilterKind>(1 + input.Below(4))) {
    case FilterKind::kClassicBloom:
      TryClassic(&input);
      break;
    case FilterKind::kCountingBloom:
      TryCounting(&input);
      break;
    default:
      TryBuilder(kind, &input);
  }
}

}  // namespace blocksieve::testing
