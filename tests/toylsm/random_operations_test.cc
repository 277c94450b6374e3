#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "integration/toylsm/recovery.h"
#include "tests/toylsm/toy_model.h"

// Random operations on a database and on a map, which must agree: now, and at every snapshot.

namespace blocksieve::toylsm {
namespace {

class RandomOperations : public ::testing::TestWithParam<unsigned> {
 protected:
  RandomOperations() : random_(GetParam()) {
    options_ = SmallOptions(&env_);
    options_.memtable_bytes = uint64_t{4} << (10 + Below(4));
    options_.level0_files = static_cast<uint32_t>(1 + Below(4));
    options_.size_ratio = 2 + static_cast<double>(Below(4));
    options_.filter_granule_blocks = static_cast<uint32_t>(Below(5));
    options_.value_granule_blocks = static_cast<uint32_t>(1 + Below(3));
    options_.cache_bytes = Below(2) * (256 << 10);
    if (Below(4) == 0) options_.key_filters.clear();
    for (KeyFilterOptions& filter : options_.key_filters) {
      filter.target_fpr = Below(2) == 0 ? 0.01 : 0.3;
      filter.kind = Below(2) == 0 ? FilterKind::kRibbon : FilterKind::kBlockedBloom;
      filter.range_fpr = Below(3) == 0 ? 0 : 0.05;
    }
    for (const char* text : {"word = 'w3'", "word = 'w1' AND number < 100", "number > 990",
                             "number BETWEEN 100 AND 110 OR word = 'absent'", "word IS NULL",
                             "number IS NULL", "NOT word = 'w2'", "number IN (1, 5, 700)",
                             "tags IS NOT NULL", "tags IS NULL OR word = 'w7'"}) {
      predicates_.push_back(*Predicate::Parse(text, options_.value_columns));
    }
    Reopen();
  }

  struct Moment {
    std::unique_ptr<const Snapshot> snapshot;
    Model model;
  };

  uint64_t Below(uint64_t bound) { return random_() % bound; }

  std::string RandomKey() {
    if (Below(100) == 0) return std::string(Below(3), '\xff');
    return "k" + std::to_string(Below(Below(2) == 0 ? 1500 : 60));
  }

  // A short one mostly; also empty ones, and such as have no end.
  KeyRange RandomRange() {
    KeyRange range{.begin = RandomKey(), .end = RandomKey()};
    if (Below(2) == 0) range.end = range.begin + std::to_string(Below(10));
    if (Below(10) == 0) range.end = std::nullopt;
    if (Below(2) == 0) range.begin += std::to_string(Below(10));
    if (Below(20) == 0) range.begin.clear();
    return range;
  }

  std::string RandomValue() {
    if (Below(20) == 0) return {};
    std::string value = "w" + std::to_string(Below(40));
    if (Below(10) != 0) value += "\t" + std::to_string(Below(1000));
    if (Below(3) == 0) return value;
    return value + "\t" + std::string(Below(60), '.') + (Below(3) == 0 ? "tag" : "");
  }

  void Reopen() {
    moments_.clear();
    db_ = nullptr;
    db_ = MustHave(Db::Open(options_, "/db"));
  }

  void Step() {
    const uint64_t dice = Below(10'000);
    if (dice < 5500) {
      const std::string key = RandomKey();
      model_[key] = RandomValue();
      MustBeOk(db_->Put(key, model_[key], {.sync = Below(10) == 0}));
    } else if (dice < 7500) {
      const std::string key = RandomKey();
      model_.erase(key);
      MustBeOk(db_->Delete(key));
    } else if (dice < 8200) {
      WriteBatch batch;
      for (uint64_t i = Below(6); i > 0; --i) {
        const std::string key = RandomKey();
        if (Below(3) == 0) {
          batch.Delete(key);
          model_.erase(key);
        } else {
          model_[key] = RandomValue();
          batch.Put(key, model_[key]);
        }
      }
      MustBeOk(db_->Write(batch));
    } else if (dice < 9500) {
      CheckKeys();
    } else if (dice < 9700) {
      CheckIterator();
    } else if (dice < 9730) {
      CheckScan();
    } else if (dice < 9740) {
      MustBeOk(db_->Flush());
    } else if (dice < 9742) {
      MustBeOk(db_->Compact());
    } else if (dice < 9745) {
      MustBeOk(db_->Verify());
    } else if (dice < 9750) {
      CheckEverything();
      Reopen();
    } else if (dice < 9850 && moments_.size() < 5) {
      moments_.push_back({db_->GetSnapshot(), model_});
    } else if (dice < 9950 && !moments_.empty()) {
      moments_.erase(moments_.begin() + static_cast<ptrdiff_t>(Below(moments_.size())));
    }
  }

  // One of the moments, or now.
  std::pair<const Snapshot*, const Model*> RandomMoment() {
    const size_t which = Below(moments_.size() + 1);
    if (which == moments_.size()) return {nullptr, &model_};
    return {moments_[which].snapshot.get(), &moments_[which].model};
  }

  static std::optional<std::string> ValueIn(const Model& model, const std::string& key) {
    const auto found = model.find(key);
    return found == model.end() ? std::nullopt : std::optional(found->second);
  }

  void CheckKeys() {
    const auto [snapshot, model] = RandomMoment();
    std::vector<std::string> keys;
    for (uint64_t i = 1 + Below(4); i > 0; --i) keys.push_back(RandomKey());
    const std::vector<std::string_view> views(keys.begin(), keys.end());
    const auto values = MustHave(db_->MultiGet(views, snapshot));
    for (size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(values[i], ValueIn(*model, keys[i])) << keys[i];
    }
  }

  void CheckIterator() {
    const auto [snapshot, model] = RandomMoment();
    CheckWalk(db_->NewIterator(snapshot).get(), *model);
    for (int i = 0; i < 20; ++i) {
      const KeyRange range = RandomRange();
      const Model within = Within(*model, range);
      const auto iterator = db_->NewIterator(snapshot, range);
      ASSERT_EQ(MustHave(ReadAll(iterator.get())), within);
      CheckWalk(iterator.get(), within);
      if (HasFailure()) FAIL() << "from " << range.begin << " to " << range.end.value_or("no end");
    }
  }

  // There and back.
  void CheckWalk(Iterator* iterator, const Model& model) {
    const std::string start = RandomKey();
    auto at = model.lower_bound(start);
    iterator->Seek(start);
    if (Below(5) == 0) {
      iterator->SeekToLast();
      at = model.empty() ? model.end() : std::prev(model.end());
    }
    for (int i = 0; i < 30; ++i) {
      ASSERT_EQ(iterator->Valid(), at != model.end());
      if (at == model.end()) break;
      ASSERT_EQ(iterator->key(), at->first);
      ASSERT_EQ(iterator->value(), at->second);
      if (Below(3) != 0) {
        iterator->Next();
        ++at;
      } else {
        iterator->Prev();
        at = at == model.begin() ? model.end() : std::prev(at);
      }
    }
    MustBeOk(iterator->status());
  }

  void CheckScan() {
    const auto [snapshot, model] = RandomMoment();
    const Predicate& predicate = predicates_[Below(predicates_.size())];
    const auto scan = db_->Scan(predicate, snapshot, Below(4) != 0);
    ASSERT_EQ(MustHave(ReadAll(scan.get())), Matching(*model, predicate)) << predicate.ToText();
    const KeyRange range = RandomRange();
    const auto part = db_->Scan(predicate, snapshot, Below(4) != 0, range);
    ASSERT_EQ(MustHave(ReadAll(part.get())), Within(Matching(*model, predicate), range))
        << predicate.ToText();
  }

  void CheckEverything() {
    ASSERT_EQ(MustHave(ReadAll(db_->NewIterator().get())), model_);
    CheckReadOnly();
    for (const Moment& moment : moments_) {
      ASSERT_EQ(MustHave(ReadAll(db_->NewIterator(moment.snapshot.get()).get())), moment.model);
      for (const Predicate& predicate : predicates_) {
        ASSERT_EQ(MustHave(ReadAll(db_->Scan(predicate, moment.snapshot.get()).get())),
                  Matching(moment.model, predicate))
            << predicate.ToText();
      }
    }
  }

  // As another process would, beside the one that writes; from the last row to the first.
  void CheckReadOnly() {
    BlockCache cache(options_.cache_bytes);
    Counters counters;
    const ReadContext context{&counters, &cache};
    const Recovered found = MustHave(ReadDirectory(&env_, "/db", context));
    for (const Predicate& predicate : predicates_) {
      Scan scan(found.view(), context, predicate, true, /*reverse=*/true);
      Model rows;
      for (; scan.Valid(); scan.Next()) {
        ASSERT_TRUE(rows.empty() || scan.key() < rows.begin()->first);
        rows.emplace(scan.key(), scan.value());
      }
      MustBeOk(scan.status());
      ASSERT_EQ(rows, Matching(model_, predicate)) << predicate.ToText();
    }
  }

  std::mt19937_64 random_;
  MemoryEnv env_;
  Options options_;
  std::vector<Predicate> predicates_;
  std::unique_ptr<Db> db_;
  Model model_;
  std::vector<Moment> moments_;  // gone before db_
};

TEST_P(RandomOperations, AgreeWithTheModel) {
  const int num_steps = LongTests() ? 200'000 : 20'000;
  for (int step = 0; step < num_steps; ++step) {
    Step();
    if (HasFailure()) FAIL() << "seed " << GetParam() << ", step " << step;
  }
  CheckEverything();
  // A test in which filters never said no, or no file was ever compacted, would prove little.
  EXPECT_GT(db_->version()->runs.size(), 0u);
  EXPECT_GT(db_->maintenance_counters().Get(Count::kDataBlocksFromDisk), 0u);
  if (!options_.key_filters.empty()) {
    EXPECT_GT(db_->counters().Get(Count::kFilterNegatives), 0u);
    EXPECT_EQ(db_->counters().Get(Count::kFiltersUnreadable), 0u);
    EXPECT_GT(db_->counters().Get(Count::kRangeNegatives), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOperations, ::testing::Range(1u, LongTests() ? 11u : 5u));

}  // namespace
}  // namespace blocksieve::toylsm
