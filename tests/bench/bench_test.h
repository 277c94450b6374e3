#pragma once

#include <fmt/format.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "bench/support/files.h"
#include "bench/support/inputs.h"
#include "bench/support/job.h"

namespace blocksieve::bench {

/// `count` rows as lines, with keys "key000000", "key000002" and so on, in order.
inline std::string ManyLines(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("key{:06}\tvalue{}\n", 2 * i, i);
  return text;
}

/// Parses `text` as the contents of a file test.tsv.
inline Input ParseText(const std::string& text, uint64_t max_bytes = UINT64_MAX) {
  std::istringstream stream(text);
  return ParseTsv(stream, "test.tsv", max_bytes);
}

/// Rows like dpkg's lists: a hundred files in each directory, fifty in a row from one package.
inline Input PathsAndPackages(size_t num_rows) {
  Input input;
  for (size_t i = 0; i < num_rows; ++i) {
    input.rows.Add(fmt::format("/usr/dir{:03}/file{:04}", i / 100, i),
                   fmt::format("pkg{}", i / 50 * 7919 % 1'009));
  }
  input.rows.Seal();
  return input;
}

/// The message of the Failure that `function` throws; "no failure" if it throws none.
template <class Function>
std::string FailureOf(Function function) {
  try {
    function();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "no failure";
}

/// The arguments of a job, with a directory of its own, and its results.
struct TestJob {
  const TempDir dir{::testing::TempDir()};
  const JobOptions options{};
  Progress progress;
  Results results{"job"};
  Job job{options, dir.path(), "somehow", progress, results};

  /// The figure in a column of a line of a table. Fails the test unless there is one.
  Json Cell(const std::string& caption, const std::string& name, const std::string& column) const {
    const Json json = Json::parse(results.Text(0));
    for (const Json& table : json["tables"]) {
      for (const Json& line : table["lines"]) {
        for (const Json& cell : line["cells"]) {
          if (table["caption"] == caption && line["name"] == name && cell["column"] == column) {
            return cell;
          }
        }
      }
    }
    ADD_FAILURE() << caption << " has no " << column << " of " << name;
    return {{"value", std::numeric_limits<double>::quiet_NaN()}, {"turns", 0}};
  }

  double Value(const std::string& caption, const std::string& name,
               const std::string& column) const {
    return Cell(caption, name, column)["value"].get<double>();
  }

  /// Checks that the value is from `least` to `most`.
  void ExpectWithin(const std::string& caption, const std::string& name, const std::string& column,
                    double least, double most) const {
    const double value = Value(caption, name, column);
    EXPECT_TRUE(value >= least && value <= most)
        << caption << ", " << name << ", " << column << ": " << value;
  }
};

}  // namespace blocksieve::bench
