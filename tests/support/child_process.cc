#include "tests/support/child_process.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string_view>

extern char** environ;

namespace blocksieve::testing {
namespace {

std::vector<std::string> Environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string name(text.substr(0, text.find('=')));
    if (name == "LD_PRELOAD" || name.starts_with("BLOCKSIEVE_") || added.count(name) != 0) continue;
    result.emplace_back(text);
  }
  for (const auto& [name, value] : added) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> Pointers(std::vector<std::string>* strings) {
  std::vector<char*> pointers;
  for (std::string& string : *strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

ChildResult RunChild(const std::vector<std::string>& command,
                     const std::map<std::string, std::string>& environment) {
  ChildResult result;
  int ends[2];
  if (pipe(ends) != 0) return result;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);

  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = Environment(environment);
  pid_t child = 0;
  const int error = posix_spawnp(&child, command[0].c_str(), &actions, nullptr,
                                 Pointers(&arguments).data(), Pointers(&variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error == 0) {
    std::array<char, 4096> buffer;
    ssize_t count;
    while ((count = read(ends[0], buffer.data(), buffer.size())) > 0) {
      result.output.append(buffer.data(), static_cast<size_t>(count));
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  }
  close(ends[0]);
  return result;
}

}  // namespace blocksieve::testing
