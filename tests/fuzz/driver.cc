// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <iostream>
#include <random>
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "tests/support/temp_dir.h"

// Replaces libFuzzer for other compilers, with the arguments of libFuzzer that are needed:
//
//   TARGET [-runs=N] [-seed=S] FILE-OR-DIRECTORY...
//
// runs each input unchanged, then N random mutations of them and random bytes. Not guided by
// coverage, but repeatable: the same seed makes the same inputs.

namespace {

namespace fs = std::filesystem;

void Run(const std::string& input) {
  blocksieve::testing::TestOneInput(std::vector<uint8_t>(input.begin(), input.end()));
}

class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  std::string Next(const std::vector<std::string>& corpus) {
    if (corpus.empty() || Below(8) == 0) return Draw();
    std::string input = corpus[Below(corpus.size())];
    for (uint64_t n = 1 + Below(4); n > 0; --n) ChangeOnce(corpus, &input);
    return input;
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  /// Short inputs as often as long ones, and many small bytes: targets that read their input as
  /// choices get low choices, short texts and repeated numbers from these.
  std::string Draw() {
    constexpr uint64_t kMasks[] = {0xff, 0xff, 0x1f, 0x03};
    std::string input(Below(uint64_t{2} << Below(12)), '\0');
    for (char& byte : input) byte = static_cast<char>(random_() & kMasks[Below(4)]);
    return input;
  }

  void ChangeOnce(const std::vector<std::string>& corpus, std::string* input) {
    const size_t at = Place(*input);
    const uint64_t kind = input->empty() ? 4 : Below(7);
    if (kind < 3) {  // a bit, any change, or one more or less
      const char changes[] = {static_cast<char>((*input)[at] ^ 1 << Below(8)),
                              static_cast<char>(Below(256)),
                              static_cast<char>((*input)[at] + (Below(2) == 0 ? 1 : -1))};
      (*input)[at] = changes[kind];
    } else if (kind == 3) {
      input->erase(at, 1 + Below(8));
    } else if (kind == 4) {
      input->insert(at, 1 + Below(8), static_cast<char>(Below(256)));
    } else if (kind == 5) {
      input->resize(at);
    } else {
      const std::string& other = corpus[Below(corpus.size())];
      const size_t from = Below(other.size() + 1);
      input->replace(at, Below(32), other, from, 1 + Below(32));
    }
  }

  /// A random place, half of the time near an end, where headers and footers are.
  size_t Place(const std::string& input) {
    if (input.empty()) return 0;
    if (Below(2) == 0) return Below(input.size());
    const size_t near = Below(std::min<size_t>(input.size(), 100));
    return Below(2) == 0 ? near : input.size() - 1 - near;
  }

  std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char** argv) {
  uint64_t runs = 0;
  uint64_t seed = 1;
  std::vector<std::string> corpus;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("-runs=")) {
      runs = std::strtoull(argv[i] + std::strlen("-runs="), nullptr, 10);
    } else if (argument.starts_with("-seed=")) {
      seed = std::strtoull(argv[i] + std::strlen("-seed="), nullptr, 10);
    } else if (fs::is_directory(argument)) {
      for (const auto& entry : fs::directory_iterator(argument)) {
        corpus.push_back(blocksieve::testing::ReadFile(entry.path()));
      }
    } else if (fs::exists(argument)) {
      corpus.push_back(blocksieve::testing::ReadFile(argv[i]));
    } else {
      std::cerr << "neither an option nor a file: " << argument << '\n';
      return 2;
    }
  }
  std::sort(corpus.begin(), corpus.end());  // directories have no order
  for (const std::string& input : corpus) Run(input);
  Mutator mutator(seed);
  for (uint64_t i = 0; i < runs; ++i) Run(mutator.Next(corpus));
  std::cout << corpus.size() << " inputs and " << runs << " others\n";
  return 0;
}
