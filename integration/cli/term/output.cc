#include "integration/cli/term/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

#include "integration/cli/term/failure.h"

namespace blocksieve::cli {
namespace {

// What a pipe of Linux holds.
constexpr size_t kBufferBytes = 64 << 10;

}  // namespace

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

}  // namespace blocksieve::cli
