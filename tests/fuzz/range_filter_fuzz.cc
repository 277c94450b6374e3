#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "blocksieve/filter.h"
#include "lib/prefix/prefix_part.h"
#include "lib/prefix/prefix_rule.h"
#include "tests/core/range/range_test_keys.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/damage.h"

// A range filter of any keys denies no range with a key, and all kernels give the same answers.

namespace blocksieve::testing {
namespace {

using Answer = RangeFilterReader::Answer;

// The most distinct keys in a generated series.
constexpr uint32_t kMaxSeries = 1 << 10;
constexpr size_t kMaxKeys = 1'500;

void AddSeries(Input* input, std::vector<std::string>* keys) {
  const uint32_t count = input->Number<uint16_t>() % kMaxSeries;
  const std::string prefix(input->Text());
  const size_t kind = input->Below(4);
  const uint64_t step = 1 + (input->Number<uint64_t>() >> input->Below(64));
  uint64_t number = input->Number<uint32_t>();
  for (uint32_t i = 0; i < count; ++i) {
    number += kind == 3 ? step ^ (number * 0xd1342543de82ef95 >> 40) : step;
    std::string key = prefix;
    if (kind == 0) {
      key += std::to_string(number);
    } else if (kind == 1) {
      key.append(i % 300, static_cast<char>(step));
    } else {
      key += BigEndian(number);
    }
    keys->push_back(std::move(key));
  }
}

/// Leaves the rest of the input for ranges.
std::vector<std::string> AnyKeys(Input* input) {
  std::vector<std::string> keys;
  for (size_t count = input->Number<uint8_t>(); count > 0 && keys.size() < kMaxKeys; --count) {
    switch (input->Below(4)) {
      case 0:
        AddSeries(input, &keys);
        break;
      case 1: {
        // Like a recent key: longer, or with another end.
        std::string key =
            keys.empty() ? "" : keys[keys.size() - 1 - input->Below(256) % keys.size()];
        key.resize(key.size() - std::min<size_t>(key.size(), input->Below(8)));
        keys.push_back(key += input->Text());
        break;
      }
      default:
        keys.emplace_back(input->Text());
    }
  }
  return SortedDistinct(std::move(keys));
}

/// Prefixes deny no range with a key, with ranges and without. The keys choose the rule, so that
/// the rest of the input means what it always did.
void BuildAndAskPrefixes(const std::vector<std::string>& keys, bool is_whole_file) {
  static const char* const kRules[] = {"delimiter:/", "delimiter:%00", "lengths:1,2,9",
                                       "fields:len8,1*", "fields:1*,len16,len32"};
  const uint64_t choice = keys.empty() ? 0 : HashKey(keys.front()) + keys.size();
  const size_t rule = choice % (std::size(kRules) + 1);
  const double fpr = std::pow(0.01, 1 + choice / 8 % 3);
  FilterBuilder builder =
      *FilterBuilder::Create({.ranges = choice / 32 % 2 == 0,
                              .max_estimated_range_fpr = 1,
                              .prefixes = rule < std::size(kRules) ? kRules[rule] : "auto",
                              .prefix_fpr = fpr,
                              .few_prefixes_fpr = fpr,
                              .is_partition = !is_whole_file});
  for (const std::string& key : keys) builder.AddKey(key);
  const OwnedBytes block = std::move(builder.Finish()->block);
  Require(Filter::Verify(block.view()).ok(), "a finished block is sound");
  Require(DescribeFilter(block.view()).ok(), "it says which prefixes it has");
  const Filter filter = Filter::Open(block.view());
  for (const std::string& key : keys) {
    for (size_t bytes = 0; bytes <= key.size(); bytes += 1 + key.size() / 8) {
      std::string end = key.substr(0, bytes) + '\xff';
      const Answer answer = filter.QueryRange(key.substr(0, bytes), end);
      const auto first = std::lower_bound(keys.begin(), keys.end(), key.substr(0, bytes));
      Require(answer == Answer::kMayMatch || *first >= end, "no range that holds a key is denied");
    }
  }
}

}  // namespace

void TestOneInput(ByteView bytes) {
  GTEST_FLAG_SET(throw_on_failure,
                 true);  // the first failed expectation ends the process
  Input input(bytes);
  constexpr double kFprs[] = {0.015, 0.3, 0.1, 0.001, 1e-5};
  RangePartOptions options;
  options.range_fpr = kFprs[input.Below(std::size(kFprs))];
  options.is_whole_file = input.Flag();
  options.max_estimated_fpr = 1;
  const std::vector<std::string> keys = AnyKeys(&input);
  BuildAndAskPrefixes(keys, options.is_whole_file);
  if (keys.empty()) return;
  const std::string block = RangeBlock(keys, options);
  Require(Filter::Verify(AsBytes(block)).ok(), "a finished block is sound");
  const Result<FilterDescription> info = DescribeFilter(AsBytes(block));
  Require(info.ok() && info->num_range_keys == keys.size(), "the filter describes itself");

  const std::vector<uint8_t> exact = ExactCopy(AsBytes(block));
  const RangeChecker check(keys, exact, options.is_whole_file);
  for (size_t i = 0; i < keys.size(); i += 1 + keys.size() / 40) {
    const std::string& key = keys[i];
    check.Query(key, key + '\0');
    check.Query(key + '\0', key + std::string(2, '\0'));
    check.Query(key + '\0', i + 1 < keys.size() ? keys[i + 1] : key + '\xff');
    check.Query(key, keys.back());
    for (size_t at = 0; at < key.size(); at += 1 + key.size() / 5) {
      std::string near = key;
      near[at] = static_cast<char>(near[at] - 1);
      check.Query(near, key);
      check.Query(near, near + '\0');
      near.resize(at);
      check.Query(near, near + '\0');
      check.Query(near, key + '\0');
    }
  }
  while (!input.empty()) {
    const std::string& key = keys[input.Number<uint16_t>() % keys.size()];
    const std::string begin = key.substr(0, input.Below(256)).append(input.Text());
    const std::string end = begin.substr(0, input.Below(256)).append(input.Text());
    check.Query(begin, end);
    check.Query(key, end);
    check.Query(begin, key);
    check.Query(begin, key + '\0');
  }
}

}  // namespace blocksieve::testing
