// SPDX-License-Identifier: Apache-2.0
#include "tests/support/environment.h"

namespace blocksieve::testing {

std::string SourcePath(std::string_view path) {
  return std::string(BLOCKSIEVE_SOURCE_DIR "/").append(path);
}

}  // namespace blocksieve::testing
