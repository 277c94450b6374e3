// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/term/terminal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace blocksieve::term {

LineReader::LineReader(const std::string& path)
    : name_(path == "-" ? "standard input" : path),
      descriptor_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status = {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
    Fail("cannot open {}: {}", name_, std::generic_category().message(errno));
  }
  if (S_ISDIR(status.st_mode)) {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
    Fail("cannot read {}: it is a directory", name_);
  }
  if (S_ISREG(status.st_mode)) file_bytes_ = static_cast<uint64_t>(status.st_size);
  lines_.exceptions(std::ios::badbit);  // for those of underflow
}

LineReader::~LineReader() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

std::optional<std::string_view> LineReader::Next() {
  // An interrupt ends the file in the middle of a line.
  if (!std::getline(lines_, line_) || (lines_.eof() && InterruptFlag())) return std::nullopt;
  ++line_number_;
  line_begin_ += line_.size() + 1;
  return line_;
}

LineReader::int_type LineReader::underflow() {
  if (bytes_read_ - line_begin_ > kMaxLineBytes) {
    Fail("{}:{}: the line is too long; allowed: {} bytes", name_, line_number_ + 1, kMaxLineBytes);
  }
  while (!InterruptFlag()) {
    const ssize_t count = ::read(descriptor_, buffer_.data(), buffer_.size());
    if (count == 0) break;
    if (count > 0) {
      bytes_read_ += static_cast<uint64_t>(count);
      setg(buffer_.data(), buffer_.data(), buffer_.data() + count);
      return traits_type::to_int_type(buffer_.front());
    }
    if (errno != EINTR) Fail("cannot read {}: {}", name_, std::generic_category().message(errno));
  }
  return traits_type::eof();
}

}  // namespace blocksieve::term
