#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "blocksieve/bytes.h"
#include "lib/base/coding.h"

namespace blocksieve::testing {

/// Takes what comes before the first `end` off the front of a text, and that `end`; all, without.
inline std::string_view Cut(std::string_view* text, std::string_view end) {
  const std::string_view piece = text->substr(0, text->find(end));
  text->remove_prefix(std::min(piece.size() + end.size(), text->size()));
  return piece;
}

/// Takes what a test needs off the front of its input. Behind the end are zeros and empty texts, so
/// that every input is a test.
class Input {
 public:
  explicit Input(ByteView bytes) : decoder_(bytes) {}

  bool empty() const { return decoder_.rest().empty(); }

  template <class Integer>
  Integer Number() {
    return decoder_.Fixed<Integer>();
  }

  /// One byte's worth of choices. REQUIRES: 1 <= bound <= 256
  size_t Below(size_t bound) { return Number<uint8_t>() % bound; }

  bool Flag() { return Below(2) != 0; }

  /// A byte with the length, and as many bytes as there are of it. Refers to the input.
  std::string_view Text() {
    const size_t size = Number<uint8_t>();
    return AsText(decoder_.Bytes(std::min(size, decoder_.rest().size())));
  }

 private:
  Decoder decoder_;
};

}  // namespace blocksieve::testing
