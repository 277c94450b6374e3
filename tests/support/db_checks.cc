#include "tests/support/db_checks.h"

#include <rocksdb/comparator.h>
#include <rocksdb/slice_transform.h>

#include <algorithm>
#include <memory>
#include <random>

namespace blocksieve::testing {
namespace {

std::string Hex(const std::string& key) { return rocksdb::Slice(key).ToString(true); }

// Compares the result of a read of `key` with the expected one; "" if equal.
std::string Compare(const TestDb::Model& model, const std::string& key,
                    const rocksdb::Status& status, const rocksdb::Slice& value) {
  const auto entry = model.find(key);
  const bool correct = entry == model.end() ? status.IsNotFound()
                                            : status.ok() && value == rocksdb::Slice(entry->second);
  if (correct) return "";
  return "key 0x" + Hex(key) + " should be " +
         (entry == model.end() ? "absent" : "'" + entry->second + "'") + " but is " +
         status.ToString() + " '" + value.ToString() + "'";
}

std::vector<std::string> AllKeys(const TestDb::Model& model, std::vector<std::string> others) {
  for (const auto& [key, value] : model) others.push_back(key);
  return others;
}

std::string CheckBatch(rocksdb::DB* db, const TestDb::Model& model,
                       const std::vector<std::string>& keys) {
  const std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  db->MultiGet({}, db->DefaultColumnFamily(), keys.size(), slices.data(), values.data(),
               statuses.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (std::string wrong = Compare(model, keys[i], statuses[i], values[i]); !wrong.empty()) {
      return "MultiGet of " + std::to_string(keys.size()) + " keys, " + wrong;
    }
  }
  return "";
}

std::string Difference(const TestDb::Model& expected, const TestDb::Model& found) {
  const auto [right, wrong] = std::ranges::mismatch(expected, found);
  if (right == expected.end() && wrong == found.end()) return "";
  return "from key 0x" + Hex(right == expected.end() ? wrong->first : right->first) +
         " on, other rows than were written";
}

std::string CheckMultiGets(rocksdb::DB* db, const TestDb::Model& model,
                           const std::vector<std::string>& absent) {
  std::vector<std::string> keys = AllKeys(model, absent);
  std::mt19937 random(1);
  std::shuffle(keys.begin(), keys.end(), random);
  size_t size = 0;
  for (size_t next = 0; next < keys.size(); size = (size + 1) % 65) {
    const size_t count = std::min(size, keys.size() - next);
    const auto first = keys.begin() + static_cast<ptrdiff_t>(next);
    const std::vector<std::string> batch(first, first + static_cast<ptrdiff_t>(count));
    if (std::string wrong = CheckBatch(db, model, batch); !wrong.empty()) return wrong;
    next += count;
  }
  return "";
}

std::string CheckScan(rocksdb::DB* db, const TestDb::Model& model) {
  rocksdb::ReadOptions everything;
  everything.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(everything));
  for (const bool forward : {true, false}) {
    TestDb::Model found;
    forward ? it->SeekToFirst() : it->SeekToLast();
    for (; it->Valid(); forward ? it->Next() : it->Prev()) {
      found[it->key().ToString()] = it->value().ToString();
    }
    const std::string wrong =
        it->status().ok() ? Difference(model, found) : it->status().ToString();
    if (!wrong.empty()) return (forward ? "scan: " : "scan backwards: ") + wrong;
  }
  return "";
}

}  // namespace

std::string CheckGets(rocksdb::DB* db, const TestDb::Model& model,
                      const std::vector<std::string>& absent) {
  for (const std::string& key : AllKeys(model, absent)) {
    rocksdb::PinnableSlice value;
    const rocksdb::Status status = db->Get({}, db->DefaultColumnFamily(), key, &value);
    if (std::string wrong = Compare(model, key, status, value); !wrong.empty()) return wrong;
  }
  return "";
}

std::string CheckPrefixScans(rocksdb::DB* db, const TestDb::Model& model,
                             const std::vector<std::string>& absent_prefixes) {
  const rocksdb::Options options = db->GetOptions();
  const rocksdb::SliceTransform& extractor = *options.prefix_extractor;
  const bool reverse = options.comparator == rocksdb::ReverseBytewiseComparator();
  std::map<std::string, TestDb::Model> groups;
  for (const auto& [key, value] : model) {
    if (extractor.InDomain(key)) groups[extractor.Transform(key).ToString()][key] = value;
  }
  std::map<std::string, std::string> starts;
  for (const std::string& absent : absent_prefixes) {
    const std::string prefix = extractor.Transform(absent).ToString();
    if (groups[prefix].empty()) starts[prefix] = absent;
  }

  // prefix_same_as_start would assert that all keys are in the extractor's domain.
  const auto has_prefix = [&](const rocksdb::Slice& key, const std::string& prefix) {
    return extractor.InDomain(key) && extractor.Transform(key) == prefix;
  };
  // One iterator for all prefixes: it must still work after a filter excluded a file.
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator({}));
  for (const auto& [prefix, expected] : groups) {
    // The first key in comparator order that can have this prefix.
    const std::string start = expected.empty() ? starts.at(prefix)
                              : reverse        ? expected.rbegin()->first
                                               : expected.begin()->first;
    TestDb::Model found;
    for (it->Seek(start); it->Valid() && has_prefix(it->key(), prefix); it->Next()) {
      found[it->key().ToString()] = it->value().ToString();
    }
    if (!it->status().ok()) return "prefix 0x" + Hex(prefix) + ": " + it->status().ToString();
    if (std::string wrong = Difference(expected, found); !wrong.empty()) {
      return "prefix 0x" + Hex(prefix) + ": " + wrong;
    }
  }
  return "";
}

std::string CheckReads(rocksdb::DB* db, const TestDb::Model& model,
                       const std::vector<std::string>& absent) {
  if (std::string wrong = CheckGets(db, model, absent); !wrong.empty()) return wrong;
  if (std::string wrong = CheckMultiGets(db, model, absent); !wrong.empty()) return wrong;
  return CheckScan(db, model);
}

}  // namespace blocksieve::testing
