#pragma once

#include <string>
#include <string_view>

namespace blocksieve::cli {

/// Standard output, written in large pieces; on a terminal line by line.
class Output {
 public:
  Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Appends. Throws Failure if it cannot be written, but not if nobody reads any more: see
  /// is_wanted.
  void Write(std::string_view text);

  /// Appends `line` and a line end.
  void WriteLine(std::string_view line);

  /// To be called at the end; what is in the buffer otherwise is lost. Throws as Write.
  void Flush();

  /// False once the other end of the pipe was closed, as `head` does: it has what it wanted.
  bool is_wanted() const { return is_wanted_; }

 private:
  const bool is_terminal_;
  bool is_wanted_ = true;
  std::string buffer_;
};

}  // namespace blocksieve::cli
