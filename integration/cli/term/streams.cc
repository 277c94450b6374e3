#include "integration/cli/term/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <initializer_list>
#include <system_error>

#include "integration/cli/term/failure.h"

namespace blocksieve::term {
namespace {

constexpr size_t kBufferBytes = 64 << 10;  // capacity of a pipe on Linux

}  // namespace

void PrepareStandardStreams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    // open() takes the lowest free number, `descriptor`; in the wrong mode, so that its use fails.
    const int way = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    [[maybe_unused]] const int opened = ::open("/dev/null", way);
  }
}

void WriteToStandardError(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void WriteToStandardOutput(std::string_view text) {
  Output output;
  output.Write(text);
  output.Flush();
}

Output::Output() : is_terminal_(::isatty(STDOUT_FILENO) == 1) {}

void Output::Write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes) Flush();
}

void Output::WriteLine(std::string_view line) {
  buffer_ += line;
  buffer_ += '\n';
  if (is_terminal_ || buffer_.size() >= kBufferBytes) Flush();
}

void Output::Flush() {
  std::string_view rest = buffer_;
  while (is_wanted_ && !rest.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      is_wanted_ = false;
    } else if (errno != EINTR) {
      const int error = errno;
      buffer_.clear();
      Fail("cannot write to standard output: {}", std::generic_category().message(error));
    }
  }
  buffer_.clear();
}

}  // namespace blocksieve::term
