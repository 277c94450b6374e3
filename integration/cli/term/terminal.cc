// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/term/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

namespace blocksieve::term {

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
  constexpr size_t kBufferBytes = 64 << 10;  // capacity of a pipe on Linux
  buffer_ += text;
  const bool ends_line = is_terminal_ && text.ends_with('\n');
  if (ends_line || buffer_.size() >= kBufferBytes) Flush();
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

std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

std::string CountOf(uint64_t number, std::string_view what) {
  return WithCommas(number) + " " + std::string(what) + (number == 1 ? "" : "s");
}

std::string NumberText(double number, int digits) {
  const double size = std::abs(number);
  const int magnitude = size > 0 ? static_cast<int>(std::floor(std::log10(size))) : 0;
  if (magnitude + 1 >= digits)
    return (number < 0 ? "-" : "") + WithCommas(static_cast<uint64_t>(std::llround(size)));
  std::string text = fmt::format("{:.{}f}", number, digits - 1 - magnitude);
  text.resize(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string Shorten(std::string_view value) {
  size_t end = 80;
  if (value.size() <= end) return std::string(value);
  while ((value[end] & 0xc0) == 0x80 && end > 0) --end;  // to the start of a UTF-8 character
  return std::string(value.substr(0, end)) + "...";
}

std::string ProgressText(std::string_view what, uint64_t done, uint64_t all, uint64_t units,
                         std::string_view unit) {
  const std::string amount = unit == "byte"
                                 ? fmt::format("{:.1f} MB", static_cast<double>(units) / 1e6)
                                 : CountOf(units, unit);
  const std::string text = fmt::format("{}: {}", what, amount);
  return all == 0 ? text : text + fmt::format(", {} %", 100 * std::min(done, all) / all);
}

Progress::Progress() : enabled_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { Show(""); }

void Progress::Show(std::string_view what) {
  if (!enabled_) return;
  constexpr std::string_view kEraseLine = "\r\x1b[K";
  // A line wider than the terminal would wrap and could not be erased.
  WriteToStandardError(fmt::format("{}{:.79}", kEraseLine, what));
}

void Progress::Show(std::string_view what, uint64_t done, uint64_t all, uint64_t units,
                    std::string_view unit) {
  constexpr auto kPause = std::chrono::milliseconds(100);
  const auto now = std::chrono::steady_clock::now();
  if (!enabled_ || now < next_) return;
  next_ = now + kPause;
  Show(ProgressText(what, done, all, units, unit));
}

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

namespace {

constexpr int kFailureCode = 1;
constexpr int kUsageCode = 2;
constexpr int kSignalCode = 128;

std::atomic<bool> interrupted = false;
std::atomic<int> received_signal = 0;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void Remember(int signal) {
  received_signal = signal;
  interrupted = true;
}

}  // namespace

Interrupted::Interrupted(const std::string& what)
    : std::runtime_error(what), signal_(received_signal) {}

void CatchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = Remember;
  // No SA_RESTART: a read from a terminal would keep waiting.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction present = {};
    sigaction(signal, nullptr, &present);
    // nohup and background jobs of scripts ignore some signals on purpose.
    if (present.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

std::atomic<bool>& InterruptFlag() { return interrupted; }

int RunMain(const std::string& name, const std::function<void()>& run,
            const Describe& describe) try {
  const auto report = [&](const char* message, int code) {
    std::string text =
        describe ? describe(name, message, code) : fmt::format("{}: {}\n", name, message);
    if (!describe && code == kUsageCode) text += fmt::format("See: {} --help\n", name);
    WriteToStandardError(text);
    return code;
  };
  try {
    run();
    if (std::fflush(stdout) != 0) Fail("cannot write to standard output");
    return 0;
  } catch (const UsageError& error) {
    return report(error.what(), kUsageCode);
  } catch (const Interrupted& interrupted) {
    return report(interrupted.what(), kSignalCode + interrupted.signal());
  } catch (const std::bad_alloc&) {
    return report("out of memory", kFailureCode);
  } catch (const std::exception& error) {
    return report(error.what(), kFailureCode);
  }
} catch (...) {  // not even memory for a message
  return kFailureCode;
}

}  // namespace blocksieve::term
