#include "bench/support/inputs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>
#include <string_view>
#include <system_error>
#include <vector>

#include "bench/support/terminal.h"

namespace blocksieve::bench {
namespace {

/// Adds rows until a limit is reached.
class LimitedRows {
 public:
  explicit LimitedRows(const InputLimits& limits) : limits_(limits) {}

  /// False if there is no room left for the row.
  bool Add(std::string_view key, std::string_view value) {
    const uint64_t num_bytes = key.size() + value.size();
    if (rows_.size() >= limits_.max_rows || num_bytes > limits_.max_bytes - num_bytes_) {
      cut_ = true;
      return false;
    }
    rows_.Add(key, value);
    num_bytes_ += num_bytes;
    if (rows_.size() % 65'536 == 0) CheckInterrupt();
    return true;
  }

  /// `what` completes "123 rows: "; `why_dropped` says which rows went because of their keys.
  Input Finish(std::string_view source, std::string_view what, std::string_view why_dropped) {
    const size_t dropped = rows_.Seal();
    const std::string limits =
        cut_ ? fmt::format("; the rest was not read (limits: {} rows, {:.0f} MB)", limits_.max_rows,
                           static_cast<double>(limits_.max_bytes) / 1e6)
             : "";
    if (rows_.size() < kMinRows) {
      Fail("{} holds {} different keys{}; allowed are {} to {}", source, rows_.size(), limits,
           kMinRows, kMaxRows);
    }
    std::string description = fmt::format("{} rows, {:.1f} MB of keys and values: {}", rows_.size(),
                                          static_cast<double>(rows_.num_bytes()) / 1e6, what);
    if (dropped > 0) description += fmt::format("; {} {}", dropped, why_dropped);
    description += limits;
    description += '.';
    return {std::move(rows_), std::move(description)};
  }

 private:
  const InputLimits limits_;
  Rows rows_;
  uint64_t num_bytes_ = 0;
  bool cut_ = false;
};

}  // namespace

Input LoadDpkg(const std::filesystem::path& dir, const InputLimits& limits) {
  std::vector<std::filesystem::path> lists;
  std::error_code error;
  for (std::filesystem::directory_iterator it(dir, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".list") lists.push_back(it->path());
  }
  if (error || lists.empty()) {
    Fail("no dpkg file lists in {} ({}); use --input or --rows", dir.string(),
         error ? error.message() : "no *.list files");
  }
  std::sort(lists.begin(), lists.end());

  LimitedRows rows(limits);
  bool room = true;
  for (auto list = lists.begin(); room && list != lists.end(); ++list) {
    std::string package = list->stem().string();
    package.resize(std::min(package.size(), package.find(':')));  // "libc6:amd64"
    std::ifstream file(*list);
    std::string path;
    while (room && std::getline(file, path)) {
      if (!path.empty()) room = rows.Add(path, package);
    }
    if (room && !file.eof()) Fail("cannot read {}: {}", list->string(), std::strerror(errno));
  }
  return rows.Finish(
      dir.string(),
      fmt::format("path -> package, from the {} dpkg file lists in {}", lists.size(), dir.string()),
      "further owners of a path left out");
}

Input LoadTsv(const std::string& name, const InputLimits& limits) {
  if (name == "-") return ParseTsv(std::cin, "standard input", limits);
  std::ifstream file(name, std::ios::binary);
  if (!file) Fail("cannot open --input {}: {}", name, std::strerror(errno));
  return ParseTsv(file, name, limits);
}

Input LoadInput(const std::string& name, const InputLimits& limits) {
  return name.empty() ? LoadDpkg(kDpkgInfoDir, limits) : LoadTsv(name, limits);
}

Input ParseTsv(std::istream& stream, const std::string& name, const InputLimits& limits) {
  LimitedRows rows(limits);
  std::string line;
  bool room = true;
  for (uint64_t number = 1; room && std::getline(stream, line); ++number) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos || tab == 0) {
      Fail("{}, line {}: {}; wanted is: key TAB value", name, number,
           tab == 0 ? "empty key" : "no tab");
    }
    room = rows.Add(std::string_view(line).substr(0, tab), std::string_view(line).substr(tab + 1));
  }
  if (room && !stream.eof()) Fail("cannot read {}: {}", name, std::strerror(errno));
  return rows.Finish(name, fmt::format("key TAB value, from {}", name),
                     "further rows of a key left out");
}

Input MakeSynthetic(uint64_t num_rows, uint64_t value_bytes, uint64_t seed,
                    const InputLimits& limits) {
  constexpr size_t kKeyBytes = 16;
  std::mt19937_64 random(seed);
  std::string row(kKeyBytes + value_bytes, '\0');
  LimitedRows rows(limits);
  bool room = true;
  for (uint64_t i = 0; room && i < num_rows; ++i) {
    for (size_t at = 0; at < row.size(); at += sizeof(uint64_t)) {
      const uint64_t word = random();
      std::memcpy(row.data() + at, &word, std::min(sizeof word, row.size() - at));
    }
    room = rows.Add(std::string_view(row).substr(0, kKeyBytes),
                    std::string_view(row).substr(kKeyBytes));
  }
  return rows.Finish("--rows",
                     fmt::format("synthetic, keys of {} and values of {} uniformly random bytes, "
                                 "seed {}",
                                 kKeyBytes, value_bytes, seed),
                     "rows with a key drawn twice left out");
}

}  // namespace blocksieve::bench
