#include <gtest/gtest.h>
#include <rocksdb/merge_operator.h>

#include <random>
#include <string>

#include "tests/rocksdb/compat/interfering_db.h"
#include "tests/rocksdb/scan/skip_test_db.h"

// Writes, flushes and compactions between any two steps of a scan, in one thread, so that what
// other tests meet by chance happens each time: a wrong order of steps loses rows here.

namespace blocksieve {
namespace {

using namespace blocksieve::testing;  // NOLINT: test support

class SkipInterference : public ::testing::TestWithParam<unsigned> {
 protected:
  static constexpr uint64_t kKeys = 500;

  SkipInterference()
      : index_(ShortGranules({"n=int:field:1", "t=field:2"})),
        db_(Config()),
        random_(GetParam()),
        interfering_(&db_.db(), [this] { Interfere(); }) {}

  // Not both: RocksDB 7.8.3 by itself answers wrongly at snapshots where they meet range deletes.
  static bool HasMerges() { return GetParam() % 2 == 0; }

  DbConfig Config() const {
    DbConfig config = SkipConfig(index_);
    config.options.target_file_size_base = 8 << 10;
    if (HasMerges()) UseMergeOperator(&config, "put");
    return config;
  }

  uint64_t Below(uint64_t bound) { return random_() % bound; }

  void Write(int count) {
    for (int i = 0; i < count; ++i) {
      const uint64_t key = Below(kKeys);
      const uint64_t number = Below(2) == 0 ? key / 10 : Below(60);
      switch (Below(20)) {
        case 0:
          MustBeOk(db_->Delete({}, Key(key)), "delete");
          break;
        case 1:
          MustBeOk(HasMerges()
                       ? db_->Merge({}, Key(key), std::to_string(number) + "\tmerged")
                       : db_->DeleteRange({}, db_->DefaultColumnFamily(), Key(key), Key(key + 4)),
                   "merge or delete range");
          break;
        default:
          MustBeOk(db_->Put({}, Key(key), std::to_string(number) + "\tabc"), "put");
      }
    }
  }

  void Interfere() {
    switch (Below(6)) {
      case 0:
        return Write(5);
      case 1:
        Write(20);
        return db_.Flush();
      case 2:
        return db_.Flush();
      case 3: {
        const std::string begin = Key(Below(kKeys));
        const rocksdb::Slice first(begin);
        return MustBeOk(db_->CompactRange({}, &first, nullptr), "compact");
      }
      case 4:
        db_.Flush();
        return db_.Compact();
      default:
        return;
    }
  }

  const SkipIndexOptions index_;
  TestDb db_;
  std::mt19937_64 random_;
  InterferingDb interfering_;
};

TEST_P(SkipInterference, NoRowIsLost) {
  uint64_t vanished = 0;
  uint64_t found = 0;
  for (int round = 0; round < 30 && !HasFailure(); ++round) {
    Write(100);
    const std::string number = std::to_string(Below(60));
    const Predicate predicate = Where("n = " + number, index_.columns);
    const rocksdb::Snapshot* const snapshot = db_->GetSnapshot();
    SkipScanOptions options = AlwaysSkip();
    options.snapshot = snapshot;
    options.reverse = Below(2) == 0;
    options.use_index = false;
    const ScannedRows expected = Scan(&db_.db(), nullptr, predicate, options);
    options.use_index = true;
    ScanExplanation explanation;
    EXPECT_EQ(Scan(&interfering_, nullptr, predicate, options, &explanation), expected)
        << "round " << round << "\n"
        << explanation.ToText();
    vanished += explanation.files_vanished;
    found += expected.size();
    db_->ReleaseSnapshot(snapshot);
  }
  EXPECT_GT(found, 50u);
  EXPECT_GT(vanished, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SkipInterference, ::testing::Range(1u, 5u));

}  // namespace
}  // namespace blocksieve
