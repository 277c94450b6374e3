#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <sstream>
#include <string>

#include "bench/support/inputs.h"
#include "bench/support/terminal.h"

namespace blocksieve::bench {

/// So many rows as lines: keys "key000000", "key000002" and so on, in order.
inline std::string ManyLines(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("key{:06}\tvalue{}\n", 2 * i, i);
  return text;
}

/// As from a file that is called test.tsv.
inline Input ParseText(const std::string& text, const InputLimits& limits = {}) {
  std::istringstream stream(text);
  return ParseTsv(stream, "test.tsv", limits);
}

/// As of dpkg's lists: a hundred files to a directory, fifty in a row of one package.
inline Input PathsAndPackages(size_t num_rows) {
  Input input;
  for (size_t i = 0; i < num_rows; ++i) {
    input.rows.Add(fmt::format("/usr/dir{:03}/file{:04}", i / 100, i),
                   fmt::format("pkg{}", i / 50 * 7919 % 1'009));
  }
  input.rows.Seal();
  input.description = "made up.";
  return input;
}

/// What the Failure that `function` throws says; "no failure" if it throws none.
template <class Function>
std::string FailureOf(Function function) {
  try {
    function();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "no failure";
}

}  // namespace blocksieve::bench
