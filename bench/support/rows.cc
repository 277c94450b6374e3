// SPDX-License-Identifier: Apache-2.0
#include "bench/support/rows.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "bench/support/terminal.h"

namespace blocksieve::bench {
namespace {

using Random = std::mt19937_64;

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

void Rows::Add(std::string_view key, std::string_view value) {
  constexpr size_t kMax = std::numeric_limits<uint32_t>::max();
  if (key.size() > kMax || value.size() > kMax) {
    Fail("a row with a key of {} and a value of {} bytes: allowed are 0 to {} each", key.size(),
         value.size(), kMax);
  }
  rows_.push_back({.offset = bytes_.size(),
                   .key_size = static_cast<uint32_t>(key.size()),
                   .value_size = static_cast<uint32_t>(value.size())});
  bytes_.append(key).append(value);
}

size_t Rows::Seal() {
  const auto key_of = [this](const Row& row) {
    return std::string_view(bytes_).substr(row.offset, row.key_size);
  };
  std::sort(rows_.begin(), rows_.end(), [&](const Row& a, const Row& b) {
    const int order = key_of(a).compare(key_of(b));
    return order != 0 ? order < 0 : a.offset < b.offset;
  });
  const auto duplicates = std::unique(rows_.begin(), rows_.end(), [&](const Row& a, const Row& b) {
    return key_of(a) == key_of(b);
  });
  const auto dropped = static_cast<size_t>(rows_.end() - duplicates);
  rows_.erase(duplicates, rows_.end());
  num_bytes_ = 0;
  for (const Row& row : rows_) num_bytes_ += uint64_t{row.key_size} + row.value_size;
  return dropped;
}

std::string_view Rows::key(size_t i) const {
  return std::string_view(bytes_).substr(rows_[i].offset, rows_[i].key_size);
}

std::string_view Rows::value(size_t i) const {
  return std::string_view(bytes_).substr(rows_[i].offset + rows_[i].key_size, rows_[i].value_size);
}

bool Rows::Contains(std::string_view key) const {
  const auto row = std::lower_bound(
      rows_.begin(), rows_.end(), key, [this](const Row& row, std::string_view wanted) {
        return this->key(static_cast<size_t>(&row - rows_.data())) < wanted;
      });
  return row != rows_.end() && this->key(static_cast<size_t>(row - rows_.begin())) == key;
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
