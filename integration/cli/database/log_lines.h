#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <deque>
#include <string>
#include <string_view>

#include "integration/cli/term/terminal.h"

namespace blocksieve::cli {

/// The lines of a log as operators keep it. A prefix, a quote or a CR stays: readers look for their
/// words anywhere in a line.
class LogLines {
 public:
  /// Throws Failure like LineReader.
  explicit LogLines(const std::string& path) : file_(path) {}

  /// The name of the file for messages.
  const std::string& name() const { return file_.name(); }

  /// False at the end.
  bool Next(std::string* line);

  /// RocksDB's time in the first line that has one, or else the first line. Next() still returns
  /// these lines. REQUIRES: Next() was not called.
  std::string BeginTime();

 private:
  bool ReadLine();  // adds to lines_; false at the end

  term::LineReader file_;
  std::deque<std::string> lines_;
};

}  // namespace blocksieve::cli
