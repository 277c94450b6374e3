#include "integration/cli/engine/table_file.h"

#include "lib/base/coding.h"

namespace blocksieve::cli {

std::string RandomExtension(std::string_view present, std::mt19937_64* random) {
  std::string key(present);
  AppendLittleEndian(&key, (*random)());
  return key;
}

}  // namespace blocksieve::cli
