#include "bench/support/rows.h"

#include <algorithm>
#include <limits>

#include "bench/support/failure.h"

namespace blocksieve::bench {

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

}  // namespace blocksieve::bench
