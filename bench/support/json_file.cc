#include "bench/support/json_file.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "bench/support/failure.h"

namespace blocksieve::bench {

std::filesystem::path WriteJsonFile(const nlohmann::ordered_json& document,
                                    const std::filesystem::path& dir, const char* name) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  std::filesystem::path path = dir / name;
  std::ofstream file(path);
  // Names and keys of an input may be any bytes; JSON must be UTF-8.
  file << document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
  if (!file.flush()) Fail("cannot write {}", path.string());
  return path;
}

}  // namespace blocksieve::bench
