#include "integration/rocksdb/levels/run_shares.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace blocksieve::rocksdb_plugin {
namespace {

using Files = std::vector<rocksdb::SstFileMetaData>;

double KeysOf(const rocksdb::SstFileMetaData& file, double entries_per_byte) {
  return file.num_entries != 0 ? static_cast<double>(file.num_entries)
                               : entries_per_byte * static_cast<double>(file.size);
}

// Of a deeper level; files of level 0 overlap.
bool IsInByteOrder(const Files& files) {
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].smallestkey > files[i].largestkey) return false;
    if (i != 0 && files[i - 1].largestkey > files[i].smallestkey) return false;
  }
  return true;
}

/// The bytes that keys are made of, behind what all begin with: digits, letters or any, from the
/// lowest to the highest. In numbers of them there is no gap between "19" and "20".
class Alphabet {
 public:
  explicit Alphabet(const rocksdb::ColumnFamilyMetaData& column_family) {
    std::optional<std::string_view> first;
    for (const auto& level : column_family.levels) {
      for (const auto& file : level.files) {
        for (const std::string* const bound : {&file.smallestkey, &file.largestkey}) {
          const std::string_view key = *bound;
          if (!first) first = key;
          const auto differs = std::mismatch(key.begin(), key.end(), first->begin(), first->end());
          Add({differs.first, key.end()});
          Add({differs.second, first->end()});
        }
      }
    }
  }

  /// `digits` bytes from a place of the key on, as a number.
  double NumberOf(std::string_view key, size_t place, int digits) const {
    const double base = std::max(highest_ - lowest_ + 1, 2);
    double number = 0;
    for (int i = 0; i < digits; ++i, ++place) {
      number *= base;
      if (place >= key.size() || lowest_ > highest_) continue;
      number += std::clamp<int>(static_cast<uint8_t>(key[place]), lowest_, highest_) - lowest_;
    }
    return number;
  }

 private:
  void Add(std::string_view bytes) {
    for (const char byte : bytes) {
      lowest_ = std::min<int>(lowest_, static_cast<uint8_t>(byte));
      highest_ = std::max<int>(highest_, static_cast<uint8_t>(byte));
    }
  }

  int lowest_ = 255;
  int highest_ = 0;
};

/// Where keys lie in the range of a file, 0 to 1.
class Scale {
 public:
  Scale(const rocksdb::SstFileMetaData& file, const Alphabet& alphabet)
      : alphabet_(alphabet), smallest_(file.smallestkey), largest_(file.largestkey) {
    const auto differs =
        std::mismatch(smallest_.begin(), smallest_.end(), largest_.begin(), largest_.end());
    prefix_ = static_cast<size_t>(differs.first - smallest_.begin());
    low_ = NumberOf(smallest_);
    high_ = NumberOf(largest_);
  }

  double Of(std::string_view key) const {
    if (key <= smallest_) return 0;
    if (key >= largest_ || high_ <= low_) return 1;
    return std::clamp((NumberOf(key) - low_) / (high_ - low_), 0.0, 1.0);
  }

 private:
  // Of the bytes behind what all keys of the file begin with.
  double NumberOf(std::string_view key) const {
    constexpr int kDigits = 12;
    return alphabet_.NumberOf(key, prefix_, kDigits);
  }

  const Alphabet& alphabet_;
  const std::string_view smallest_;
  const std::string_view largest_;
  size_t prefix_ = 0;
  double low_ = 0;
  double high_ = 0;
};

/// The share of a file's range that lies in the ranges of a run's files, which are in their order.
double CoveredShare(const rocksdb::SstFileMetaData& file, const rocksdb::SstFileMetaData* begin,
                    const rocksdb::SstFileMetaData* end, const Alphabet& alphabet) {
  const Scale scale(file, alphabet);
  // The first that does not end before the file.
  const auto* other = std::partition_point(begin, end, [&](const rocksdb::SstFileMetaData& one) {
    return one.largestkey < file.smallestkey;
  });
  double covered = 0;
  for (; other != end && other->smallestkey <= file.largestkey; ++other) {
    covered += scale.Of(other->largestkey) - scale.Of(other->smallestkey);
  }
  return std::min(covered, 1.0);
}

}  // namespace

std::vector<double> SharesOfLookups(const rocksdb::ColumnFamilyMetaData& column_family,
                                    double entries_per_byte) {
  const auto& levels = column_family.levels;
  std::vector<double> shares(levels.size(), 1);
  size_t most = 0;
  double most_keys = 0;
  for (size_t i = 1; i < levels.size(); ++i) {
    if (!IsInByteOrder(levels[i].files)) return shares;
    double keys = 0;
    for (const auto& file : levels[i].files) keys += KeysOf(file, entries_per_byte);
    if (keys <= most_keys) continue;
    most = i;
    most_keys = keys;
  }
  if (most_keys == 0) return shares;

  const Files& last = levels[most].files;
  const Alphabet alphabet(column_family);
  // Keys of the last level for which a run is asked, and its own that the last level is not asked
  // for.
  struct Asked {
    double shared = 0;
    double alone = 0;
  };
  const auto asked_of = [&](const rocksdb::SstFileMetaData* begin,
                            const rocksdb::SstFileMetaData* end) {
    Asked asked;
    for (const auto& file : last) {
      asked.shared += KeysOf(file, entries_per_byte) * CoveredShare(file, begin, end, alphabet);
    }
    for (const auto* file = begin; file != end; ++file) {
      const double covered = CoveredShare(*file, last.data(), last.data() + last.size(), alphabet);
      asked.alone += KeysOf(*file, entries_per_byte) * (1 - covered);
    }
    return asked;
  };

  double lookups = most_keys;
  std::vector<double> keys(levels.size(), 0);
  for (size_t i = 0; i < levels.size(); ++i) {
    const Files& files = levels[i].files;
    if (i == most || files.empty()) continue;
    if (i == 0) {
      for (const auto& file : files) {
        const Asked asked = asked_of(&file, &file + 1);
        keys[i] += (asked.shared + asked.alone) / static_cast<double>(files.size());
        lookups += asked.alone;
      }
    } else {
      const Asked asked = asked_of(files.data(), files.data() + files.size());
      keys[i] = asked.shared + asked.alone;
      lookups += asked.alone;
    }
  }
  keys[most] = most_keys;
  for (size_t i = 0; i < levels.size(); ++i) {
    if (levels[i].files.empty()) continue;
    shares[i] = std::clamp(keys[i] / lookups, kLeastShareOfLookups, 1.0);
  }
  return shares;
}

}  // namespace blocksieve::rocksdb_plugin
