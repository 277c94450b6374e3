#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>

#include "blocksieve/bytes.h"
#include "lib/base/coding.h"
#include "tests/support/environment.h"

namespace blocksieve::testing {

/// Defined by each fuzz target. Reads the input as foreign bytes, and ends the process if a promise
/// about arbitrary bytes is broken. The input is in memory of exactly its size, so that sanitizers
/// detect reads beyond it. Called by Clang's libFuzzer through libfuzzer.cc (preset `fuzz`), and by
/// driver.cc with other compilers.
void TestOneInput(ByteView input);

/// With BLOCKSIEVE_BROKEN_PROMISE=N in the environment, the N-th promise does not hold: a target
/// that then succeeds checks less than it seems to.
inline void Require(bool holds, const char* what) {
  static uint64_t left = NumberFromEnvironment("BLOCKSIEVE_BROKEN_PROMISE", 0);
  if (holds && (left == 0 || --left != 0)) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// Removes the text before the first `end`, and that `end`, from the front; everything if `end`
/// does not occur. Returns the text without `end`.
inline std::string_view Cut(std::string_view* text, std::string_view end) {
  const std::string_view piece = text->substr(0, text->find(end));
  text->remove_prefix(std::min(piece.size() + end.size(), text->size()));
  return piece;
}

/// Reads values from the front of a fuzz input. After its end come zeros: every input is valid.
class Input {
 public:
  explicit Input(ByteView bytes) : decoder_(bytes) {}

  bool empty() const { return decoder_.rest().empty(); }

  template <class Integer>
  Integer Number() {
    return decoder_.Fixed<Integer>();
  }

  /// A number below `bound`, from one byte. REQUIRES: 1 <= bound <= 256
  size_t Below(size_t bound) { return Number<uint8_t>() % bound; }

  bool Flag() { return Below(2) != 0; }

  /// A length byte and up to that many bytes. Refers to the input.
  std::string_view Text() {
    const size_t size = Number<uint8_t>();
    return AsText(decoder_.Bytes(std::min(size, decoder_.rest().size())));
  }

 private:
  Decoder decoder_;
};

}  // namespace blocksieve::testing
