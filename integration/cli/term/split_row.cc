#include "integration/cli/term/split_row.h"

#include <algorithm>
#include <cstddef>

namespace blocksieve::cli {

bool SplitRow(std::string_view line, char delimiter, uint32_t key_field, std::string_view* key,
              std::string* value) {
  size_t begin = 0;
  for (uint32_t field = 1; field < key_field; ++field) {
    const size_t end = line.find(delimiter, begin);
    if (end == line.npos) return false;
    begin = end + 1;
  }
  const size_t end = std::min(line.find(delimiter, begin), line.size());
  *key = line.substr(begin, end - begin);
  // One of the delimiters beside the key goes with it.
  if (begin == 0) {
    *value = line.substr(std::min(end + 1, line.size()));
  } else {
    *value = line.substr(0, begin - 1);
    *value += line.substr(end);
  }
  return true;
}

uint64_t CountFields(std::string_view line, char delimiter) {
  return static_cast<uint64_t>(std::count(line.begin(), line.end(), delimiter)) + 1;
}

}  // namespace blocksieve::cli
