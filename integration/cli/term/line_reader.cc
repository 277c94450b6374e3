#include "integration/cli/term/line_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "integration/cli/term/failure.h"

namespace blocksieve::term {
namespace {

constexpr size_t kPieceBytes = 1 << 20;

}  // namespace

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
}

LineReader::~LineReader() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

std::optional<std::string_view> LineReader::Next() {
  size_t searched = begin_;
  while (true) {
    const void* const found = std::memchr(buffer_.data() + searched, '\n', end_ - searched);
    if (found != nullptr) {
      const auto line_end = static_cast<size_t>(static_cast<const char*>(found) - buffer_.data());
      const auto line = std::string_view(buffer_).substr(begin_, line_end - begin_);
      begin_ = line_end + 1;
      ++line_number_;
      return line;
    }
    const size_t unfinished = end_ - begin_;
    if (unfinished > kMaxLineBytes) {
      Fail("{}:{}: the line is too long; allowed: {} bytes", name_, line_number_ + 1,
           kMaxLineBytes);
    }
    if (Fill()) {
      searched = begin_ + unfinished;
      continue;
    }
    if (unfinished == 0 || InterruptFlag()) return std::nullopt;
    const auto line = std::string_view(buffer_).substr(begin_, unfinished);
    begin_ = end_;
    ++line_number_;
    return line;
  }
}

bool LineReader::Fill() {
  if (at_end_) return false;
  // Moves the start of the line to the front; a long line doubles the buffer.
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (buffer_.size() - end_ < kPieceBytes) {
    buffer_.resize(std::max(2 * buffer_.size(), end_ + kPieceBytes));
  }
  while (!InterruptFlag()) {
    const ssize_t count = ::read(descriptor_, buffer_.data() + end_, kPieceBytes);
    if (count >= 0) {
      at_end_ = count == 0;
      end_ += static_cast<size_t>(count);
      bytes_read_ += static_cast<uint64_t>(count);
      return count > 0;
    }
    if (errno != EINTR) Fail("cannot read {}: {}", name_, std::generic_category().message(errno));
  }
  return false;
}

}  // namespace blocksieve::term
