#include "tests/support/environment.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace blocksieve::testing {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = " '";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

ChildResult RunChild(const std::vector<std::string>& command,
                     const std::map<std::string, std::string>& environment) {
  std::string line = "exec env -u LD_PRELOAD";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name =
        std::string_view(*entry).substr(0, std::string_view(*entry).find('='));
    if (name.starts_with("BLOCKSIEVE_")) line.append(" -u ").append(name);
  }
  for (const auto& [name, value] : environment) line += Quoted(name + "=" + value);
  for (const std::string& argument : command) line += Quoted(argument);
  ChildResult result;
  std::FILE* const output = ::popen((line + " 2>&1").c_str(), "r");  // NOLINT: of our own words
  if (output == nullptr) return result;
  std::array<char, 4096> buffer;
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), output)) {
    result.output.append(buffer.data(), count);
  }
  const int status = ::pclose(output);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

std::string SourcePath(std::string_view path) {
  return std::string(BLOCKSIEVE_SOURCE_DIR "/").append(path);
}

}  // namespace blocksieve::testing
