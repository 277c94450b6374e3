#include "tests/rocksdb/ranges/model_keys.h"

#include <cstdio>
#include <string_view>

namespace blocksieve::testing {
namespace {

std::string BigEndian(uint64_t number) {
  std::string bytes(8, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(number >> (56 - 8 * i));
  return bytes;
}

std::string Path(uint64_t package, uint64_t file) {
  char text[64];
  std::snprintf(text, sizeof(text), "/usr/share/doc/p%03u/f%02u", static_cast<unsigned>(package),
                static_cast<unsigned>(file));
  return text;
}

}  // namespace

ModelKeys::ModelKeys(Dice* dice) : dice_(*dice), keys_(3) {
  constexpr std::string_view kBytes("\0\1ab\xff", 5);
  for (int i = 0; i < 500; ++i) {
    std::string key;
    for (uint64_t left = dice_.Below(6); left > 0; --left) key += kBytes[dice_.Below(5)];
    keys_.push_back(key);
  }
  for (int i = 0; i < 500; ++i) {
    keys_.push_back(BigEndian(dice_.OneIn(3) ? dice_.Bits() : dice_.Below(4000)));
  }
  for (int i = 0; i < 700; ++i) keys_.push_back(Path(dice_.Below(60), dice_.Below(20)));
  for (int i = 0; i < 300; ++i) {
    keys_.push_back(std::string(dice_.Below(30), 'q') + static_cast<char>(dice_.Below(256)));
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
