#pragma once

#include <fmt/format.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
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
  input.description = "made up.";
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

/// The arguments of a job, with a directory of its own.
struct TestJob {
  const TempDir dir{::testing::TempDir()};
  const JobOptions options{};
  Progress progress;
  Results results{"job"};
  Job job{options, dir.path(), progress, results};
};

/// The rows that a job wrote. Fails the test if the job left anything else.
class ResultRows {
 public:
  explicit ResultRows(const TestJob& test) : rows_(Json::parse(test.results.Text())["rows"]) {
    EXPECT_TRUE(std::filesystem::is_empty(test.dir.path()));
  }

  /// The row of this metric with this name and parameters. Fails the test unless it is unique.
  Json Row(const std::string& metric, const Json& where) const {
    std::vector<Json> found;
    for (const Json& row : rows_) {
      Json fields = row["parameters"];
      fields["name"] = row["name"];
      bool is_meant = row["metric"] == metric;
      for (const auto& [name, value] : where.items()) {
        is_meant = is_meant && fields.contains(name) && fields[name] == value;
      }
      if (is_meant) found.push_back(row);
    }
    EXPECT_EQ(found.size(), 1U) << metric << " of " << where;
    return found.empty() ? Json({{"value", std::numeric_limits<double>::quiet_NaN()}}) : found[0];
  }

  double Value(const std::string& metric, const Json& where) const {
    return Row(metric, where)["value"].get<double>();
  }

  /// Checks that the value is from `least` to `most`.
  void ExpectWithin(const std::string& metric, const Json& where, double least, double most) const {
    SCOPED_TRACE(metric + " of " + where.dump());
    EXPECT_GE(Value(metric, where), least);
    EXPECT_LE(Value(metric, where), most);
  }

  size_t size() const { return rows_.size(); }

 private:
  const Json rows_;
};

}  // namespace blocksieve::bench
