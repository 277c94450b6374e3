// SPDX-License-Identifier: Apache-2.0
#include "bench/support/inputs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <numeric>
#include <random>
#include <system_error>

#include "bench/support/terminal.h"

namespace blocksieve::bench {
namespace {

using Random = std::mt19937_64;

// Adds rows until a limit is reached.
class LimitedRows {
 public:
  explicit LimitedRows(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  // A row that does not fit is the last one.
  void Add(std::string_view key, std::string_view value) {
    is_cut_ =
        rows_.size() >= kMaxRows || key.size() + value.size() > max_bytes_ - rows_.num_bytes();
    if (is_cut_) return;
    rows_.Add(key, value);
    if (rows_.size() % 65'536 == 0) CheckInterrupt();
  }
  bool has_room() const { return !is_cut_; }

  // `what` completes "123 rows: ".
  Input Finish(std::string_view source, std::string_view what) {
    const auto megabytes = [](uint64_t bytes) { return static_cast<double>(bytes) / 1e6; };
    const size_t dropped = rows_.Seal();
    std::string description = fmt::format("{} rows, {:.1f} MB of keys and values: {}", rows_.size(),
                                          megabytes(rows_.num_bytes()), what);
    if (dropped > 0) description += fmt::format("; {} rows with duplicate keys dropped", dropped);
    if (is_cut_) {
      description += fmt::format("; truncated at {:.0f} MB", megabytes(max_bytes_));
    }
    if (rows_.size() < kMinRows) {
      Fail("{} has {}; allowed: {} to {} distinct keys", source, description, kMinRows, kMaxRows);
    }
    return {std::move(rows_), description + "."};
  }

 private:
  const uint64_t max_bytes_;
  Rows rows_;
  bool is_cut_ = false;
};

Input ParseTsv(const std::string& path, uint64_t max_bytes) {
  LimitedRows rows(max_bytes);
  term::LineReader lines(path);
  for (auto row = lines.Next(); row && rows.has_room(); row = lines.Next()) {
    const size_t tab = row->find('\t');
    if (tab == row->npos || tab == 0) {
      Fail("{}, line {}: {}; expected: key TAB value", lines.name(), lines.line_number(),
           tab == 0 ? "empty key" : "no tab");
    }
    rows.Add(row->substr(0, tab), row->substr(tab + 1));
  }
  CheckInterrupt();  // which ends the lines, too
  return rows.Finish(lines.name(), "key TAB value, from " + lines.name());
}

size_t Below(size_t bound, Random& random) {
  return std::uniform_int_distribution<size_t>(0, bound - 1)(random);
}

size_t PositionInSecondHalf(std::string_view key, Random& random) {
  return key.size() - 1 - Below((key.size() + 1) / 2, random);
}

std::string AlterKey(const Rows& rows, Random& random) {
  std::string key(rows.key(Below(rows.size(), random)));
  const std::string_view donor = rows.key(Below(rows.size(), random));
  key[PositionInSecondHalf(key, random)] = donor[PositionInSecondHalf(donor, random)];
  return key;
}

}  // namespace

size_t Rows::Seal() {
  constexpr auto kKey = &std::pair<std::string, std::string>::first;
  std::ranges::stable_sort(rows_, {}, kKey);
  const auto duplicates = std::ranges::unique(rows_, {}, kKey);
  const size_t dropped = duplicates.size();
  rows_.erase(duplicates.begin(), duplicates.end());
  num_bytes_ = 0;
  for (const auto& [key, value] : rows_) num_bytes_ += key.size() + value.size();
  return dropped;
}

bool Rows::Contains(std::string_view key) const {
  return std::ranges::binary_search(rows_, key, {}, &std::pair<std::string, std::string>::first);
}

Input LoadDpkg(uint64_t max_bytes) {
  const std::string dir = "/var/lib/dpkg/info";
  std::vector<std::filesystem::path> lists;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(dir, error)) {
    if (entry.path().extension() == ".list") lists.push_back(entry.path());
  }
  if (lists.empty()) {
    Fail("no dpkg file lists in {} ({}); use --input or --rows", dir,
         error ? error.message() : "no *.list files");
  }
  std::sort(lists.begin(), lists.end());

  LimitedRows rows(max_bytes);
  for (auto list = lists.begin(); rows.has_room() && list != lists.end(); ++list) {
    std::string package = list->stem().string();
    package.resize(std::min(package.size(), package.find(':')));  // "libc6:amd64"
    std::ifstream file(*list);
    std::string path;
    while (rows.has_room() && std::getline(file, path)) {
      if (!path.empty()) rows.Add(path, package);
    }
    if (!rows.has_room() || file.eof()) continue;
    Fail("cannot read {}: {}", list->string(), std::strerror(errno));
  }
  return rows.Finish(
      dir, fmt::format("path -> package, from the {} dpkg file lists in {}", lists.size(), dir));
}

Input ReadInput(Job& job, uint64_t max_bytes) {
  const JobOptions& options = job.options;
  job.progress.Show("reading the input");
  if (options.rows > 0) return MakeSynthetic(options.rows, options.seed, max_bytes);
  if (options.input.empty()) return LoadDpkg(max_bytes);
  return ParseTsv(options.input, max_bytes);
}

Input MakeSynthetic(uint64_t num_rows, uint64_t seed, uint64_t max_bytes) {
  constexpr size_t kKeyBytes = 16;
  Random random(seed);
  std::string row(kKeyBytes + 100, '\0');
  LimitedRows rows(max_bytes);
  for (uint64_t i = 0; rows.has_room() && i < num_rows; ++i) {
    for (size_t at = 0; at < row.size(); at += sizeof(uint64_t)) {
      const uint64_t word = random();
      std::memcpy(row.data() + at, &word, std::min(sizeof word, row.size() - at));
    }
    const std::string_view bytes = row;
    rows.Add(bytes.substr(0, kKeyBytes), bytes.substr(kKeyBytes));
  }
  return rows.Finish("--rows", fmt::format("synthetic, uniformly random bytes, seed {}", seed));
}

std::vector<uint32_t> KeyOrder(size_t num_rows) {
  std::vector<uint32_t> order(num_rows);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

std::vector<uint32_t> RandomOrder(size_t num_rows, uint64_t seed) {
  std::vector<uint32_t> order = KeyOrder(num_rows);
  std::shuffle(order.begin(), order.end(), Random(seed));
  return order;
}

LookupKeys DrawLookupKeys(const Rows& rows, uint64_t count, uint64_t seed) {
  Random random(seed);
  LookupKeys keys;
  keys.present.reserve(count);
  keys.absent.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    keys.present.push_back(static_cast<uint32_t>(Below(rows.size(), random)));
  }
  const std::string_view first = rows.key(0);
  const std::string_view last = rows.key(rows.size() - 1);
  const uint64_t max_tries = 100 * count + 1'000;
  for (uint64_t tries = 0; keys.absent.size() < count; ++tries) {
    if (tries == max_tries) {
      Fail("the keys are too dense: {} altered keys gave {} absent ones, {} wanted", tries,
           keys.absent.size(), count);
    }
    if (tries % 65'536 == 0) CheckInterrupt();
    std::string key = AlterKey(rows, random);
    if (first < key && key < last && !rows.Contains(key)) keys.absent.push_back(std::move(key));
  }
  return keys;
}

}  // namespace blocksieve::bench
