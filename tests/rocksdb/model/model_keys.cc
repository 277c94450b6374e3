#include "tests/rocksdb/model/model_keys.h"

#include <cstdio>
#include <string_view>

#include "tests/support/key_sets.h"

namespace blocksieve::testing {
namespace {

template <class... Numbers>
std::string Print(const char* format, Numbers... numbers) {
  char text[64];
  std::snprintf(text, sizeof(text), format, static_cast<unsigned>(numbers)...);
  return text;
}

// Kinds of keys. Keys of the last three are mostly too much alike for range filters.
constexpr uint64_t kKinds = 7;
constexpr uint64_t kFarApart = 4;

std::string KeyOfKind(uint64_t kind, Dice* dice) {
  switch (kind) {
    case 0:
      return MakeKey(KeyShape::kCounter, dice->Bits());
    case 1:
      return MakeKey(KeyShape::kCounter, dice->OneIn(30) ? dice->Bits() : dice->Below(50'000));
    case 2:
      return Print("user%06u", dice->Below(1'000'000));
    case 3:
      return Print("%02u:%05u", dice->Below(20), dice->Below(100'000));
    case 4:
      return Print("/usr/share/doc/p%03u/f%02u", dice->Below(60), dice->Below(20));
    case 5:
      return std::string(dice->Below(30), 'q') + static_cast<char>(dice->Below(256));
    default: {
      constexpr std::string_view kBytes("\0\1ab\xff", 5);
      std::string key;
      for (uint64_t left = dice->Below(6); left > 0; --left) key += kBytes[dice->Below(5)];
      return key;
    }
  }
}

}  // namespace

ModelKeys::ModelKeys(Dice* dice, bool far_apart) : dice_(*dice), keys_(3) {
  const uint64_t kind =
      dice_.Below(far_apart ? kFarApart : kKinds + 1);  // the last value: all kinds
  while (keys_.size() < (far_apart ? 300 : 1500)) {
    keys_.push_back(
        KeyOfKind(kind == kKinds || dice_.OneIn(50) ? dice_.Below(kKinds) : kind, dice));
  }
}

std::string ModelKeys::Near() {
  std::string key = Any();
  switch (dice_.Below(6)) {
    case 0:
      key += '\0';
      break;
    case 1:
      if (!key.empty()) ++key.back();
      break;
    case 2:
      if (!key.empty()) key.pop_back();
      break;
    case 3:
      key += static_cast<char>(dice_.Below(256));
      break;
    default:
      break;
  }
  return key;
}

std::pair<std::string, std::string> ModelKeys::Range() {
  std::pair<std::string, std::string> range{Near(), Near()};
  if (!dice_.OneIn(10)) {  // mostly short ones
    range.second = range.first;
    if (dice_.OneIn(2) && !range.second.empty()) {
      range.second.back() = static_cast<char>(dice_.Below(256));
    } else {
      range.second += static_cast<char>(dice_.Below(256));
    }
  }
  if (range.second < range.first) std::swap(range.first, range.second);
  return range;
}

}  // namespace blocksieve::testing
