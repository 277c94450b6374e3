#include "integration/cli/term/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <initializer_list>

namespace blocksieve::cli {

void PrepareStandardStreams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    // The lowest free number, which is this one; open for what it will not be used for.
    const int way = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    [[maybe_unused]] const int opened = ::open("/dev/null", way);
  }
}

void WriteToStandardError(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace blocksieve::cli
