// SPDX-License-Identifier: Apache-2.0
#include <rocksdb/db.h>
#include <rocksdb/version.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "blocksieve/rocksdb.h"

// A program of one version of the plug-in, which goes on with the database of another:
//
//   killed_program DB ROUND
//
// Checks the rows of the rounds before by all indexes, adds those of this one, half of them in
// files, and ends as by a crash.

namespace {

constexpr int kRows = 1000;

std::string Key(int row) {
  char key[32];
  std::snprintf(key, sizeof key, "key/%08d", row);
  return key;
}

void Must(bool is_right, const char* what) {
  if (is_right) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);  // NOLINT(concurrency-mt-unsafe): there is one thread
}

int64_t CountRows(rocksdb::DB* db, const std::string& condition,
                  const rocksdb::ReadOptions& read = {}) {
  std::unique_ptr<rocksdb::Iterator> rows;
  Must(blocksieve::NewIterator(db, nullptr, condition, read, &rows).ok(), "an iterator");
  int64_t count = 0;
  for (rows->SeekToFirst(); rows->Valid(); rows->Next()) ++count;
  Must(rows->status().ok(), "its end");
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int round = std::atoi(argv[2]);
  rocksdb::Options options;
  options.create_if_missing = true;
  const char* const column = "round=field:1";
  Must(blocksieve::Enable(&options, {.bits_per_key = 10, .ranges = true, .columns = {column}}).ok(),
       "Enable");
#if ROCKSDB_MAJOR < 11
  rocksdb::DB* db = nullptr;
  Must(rocksdb::DB::Open(options, argv[1], &db).ok(), "DB::Open");
#else
  std::unique_ptr<rocksdb::DB> opened;
  Must(rocksdb::DB::Open(options, argv[1], &opened).ok(), "DB::Open");
  rocksdb::DB* const db = opened.get();
#endif
  for (int before = 0; before < round; ++before)
    Must(CountRows(db, "round = 'r" + std::to_string(before) + "'") == kRows, "rows of a round");
  std::string value;
  for (int row = 0; row < round * kRows; ++row) {
    Must(db->Get({}, Key(row), &value).ok(), "a row");
    Must(db->Get({}, Key(row) + "+", &value).IsNotFound(), "an absent row");
    const std::string end = Key(row) + "/";
    const rocksdb::Slice upper = end;
    rocksdb::ReadOptions read;
    read.iterate_upper_bound = &upper;
    if (row % 100 == 0) Must(CountRows(db, "", read) == row + 1, "rows of a range");
  }
  for (int row = round * kRows; row < (round + 1) * kRows; ++row) {
    Must(db->Put({}, Key(row), "r" + std::to_string(round) + "\tvalue").ok(), "Put");
    if (row % kRows == kRows / 2) Must(db->Flush({}).ok(), "Flush");
  }
  if (round % 3 == 2) Must(db->CompactRange({}, nullptr, nullptr).ok(), "CompactRange");
  return std::raise(SIGKILL);
}
