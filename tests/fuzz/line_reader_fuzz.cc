#include "integration/cli/term/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz.h"

// Input: a byte, and the output of a process to a pipe, in pieces of that many bytes but at most 16
// pieces. Wherever these end, the lines read are the lines written.

namespace blocksieve::cli {
namespace {

using blocksieve::testing::Require;

constexpr size_t kMaxPieces = 16;  // fit in the buffers of a pipe that is not read
constexpr size_t kMaxBytes = 32 << 10;

// A pipe that holds `text`.
class FullPipe {
 public:
  FullPipe(std::string_view text, size_t piece_bytes) {
    int ends[2];
    Require(::pipe2(ends, O_DIRECT | O_CLOEXEC) == 0, "a pipe can be made");
    reading_end_ = ends[0];
    for (; !text.empty(); text.remove_prefix(std::min(piece_bytes, text.size()))) {
      const std::string_view piece = text.substr(0, piece_bytes);
      Require(::write(ends[1], piece.data(), piece.size()) == static_cast<ssize_t>(piece.size()),
              "the pipe's buffer takes everything");
    }
    ::close(ends[1]);
  }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;
  ~FullPipe() { ::close(reading_end_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(reading_end_); }

 private:
  int reading_end_ = -1;
};

}  // namespace
}  // namespace blocksieve::cli

void blocksieve::testing::TestOneInput(ByteView bytes) {
  using namespace cli;
  if (bytes.empty()) return;
  const size_t num_bytes = std::min(bytes.size() - 1, kMaxBytes);
  std::string_view text = AsText(bytes.subspan(1, num_bytes));
  const size_t piece_bytes = std::max<size_t>(1 + bytes[0], num_bytes / kMaxPieces + 1);
  const FullPipe pipe(text, piece_bytes);
  term::LineReader reader(pipe.path());
  uint64_t num_lines = 0;
  while (const std::optional<std::string_view> line = reader.Next()) {
    Require(!text.empty(), "no line follows the last one");
    const size_t end = std::min(text.find('\n'), text.size());
    Require(*line == text.substr(0, end), "lines are read as they were written");
    text.remove_prefix(std::min(end + 1, text.size()));
    Require(reader.line_number() == ++num_lines, "lines are counted");
  }
  Require(text.empty(), "all lines are read");
  Require(reader.bytes_read() == num_bytes, "bytes are counted");
}
