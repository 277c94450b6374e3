#include "integration/cli/table_file.h"

#include "lib/coding.h"

namespace blocksieve::cli {

std::string RandomExtension(std::string_view present, std::mt19937_64* random) {
  std::string key(present);
  AppendLittleEndian(&key, (*random)());
  return key;
}

}  // namespace blocksieve::cli
