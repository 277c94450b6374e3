#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "blocksieve/hash.h"
#include "integration/toylsm/log.h"
#include "integration/toylsm/manifest.h"
#include "lib/base/coding.h"
#include "tests/toylsm/memory_env.h"
#include "tests/toylsm/toy_model.h"

// Where a log ends, and what is damage to it or to a manifest. damage_test changes every byte of
// them.

namespace blocksieve::toylsm {
namespace {

constexpr uint64_t kNumber = 7;
constexpr char kPath[] = "/db/000007.log";
constexpr size_t kFileHeaderBytes = 20;
constexpr size_t kRecordHeaderBytes = 28;

class LogTest : public ::testing::Test {
 protected:
  // Appends, and returns how long the log is then.
  size_t Append(const std::string& batch, bool sync) {
    MustBeOk(writer_->Append(batch, next_sequence_++));
    if (sync) MustBeOk(writer_->Sync());
    return Contents().size();
  }

  std::string Contents() const { return env_.Contents(kPath); }

  // As FORMAT.md has it, for a place in the log.
  static std::string MakeHeader(size_t offset, uint64_t batch_bytes, uint64_t synced_bytes) {
    std::string header;
    AppendLittleEndian(&header, static_cast<uint32_t>(batch_bytes));
    AppendLittleEndian(&header, uint32_t{0});
    AppendLittleEndian(&header, synced_bytes);
    AppendLittleEndian(&header, Sequence{1});
    const uint64_t place = (kNumber << 40) ^ offset;
    AppendLittleEndian(&header, static_cast<uint32_t>(HashKey(header, place)));
    return header;
  }

  // Sets batches_ to what could be read.
  StatusCode Read(const std::string& log) {
    batches_.clear();
    return ReadLog(AsBytes(log), kNumber,
                   [this](ByteView batch, Sequence) {
                     batches_.emplace_back(AsText(batch));
                     return Status::Ok();
                   })
        .code();
  }

  using Batches = std::vector<std::string>;

  MemoryEnv env_;
  const std::unique_ptr<LogWriter> writer_ = MustHave(LogWriter::Create(&env_, kPath, kNumber));
  Sequence next_sequence_ = 1;
  Batches batches_;
};

TEST_F(LogTest, ATornRecordIsTheEndWhateverFollowsUnsynced) {
  const size_t synced = Append("first", true);
  Append("second", false);
  Append("third", false);
  std::string log = Contents();
  EXPECT_EQ(Read(log), StatusCode::kOk);
  EXPECT_EQ(batches_, (Batches{"first", "second", "third"}));
  log[synced + kRecordHeaderBytes] ^= 1;
  EXPECT_EQ(Read(log), StatusCode::kOk);
  EXPECT_EQ(batches_, (Batches{"first"}));
}

TEST_F(LogTest, DamageToWhatWasSyncedIsNoticedByAHeaderAlone) {
  const size_t synced = Append("first", true);
  Append("a batch that is torn", false);
  std::string log = Contents();
  log[kFileHeaderBytes + kRecordHeaderBytes] ^= 1;
  for (size_t size = synced + kRecordHeaderBytes; size <= log.size(); ++size) {
    EXPECT_EQ(Read(log.substr(0, size)), StatusCode::kCorruption) << size;
  }
}

TEST_F(LogTest, WhatSaysThatMoreWasSyncedThanThereWasIsNoRecord) {
  const size_t end = Append("first", true);
  const std::string torn(100, '?');
  const size_t place = end + torn.size();
  for (const uint64_t synced_bytes : {place + 1, place + 1000, size_t{UINT64_MAX}}) {
    EXPECT_EQ(Read(Contents() + torn + MakeHeader(place, 0, synced_bytes)), StatusCode::kOk);
    EXPECT_EQ(batches_, (Batches{"first"}));
  }
  EXPECT_EQ(Read(Contents() + torn + MakeHeader(place, 0, place)), StatusCode::kCorruption);
}

// Whoever reads each of these batches reads some terabytes.
TEST_F(LogTest, MadeUpLengthsAreNotFollowed) {
  constexpr size_t kNumRecords = 1'000'000;
  std::string log = Contents() + std::string(kRecordHeaderBytes, '\0');
  const size_t end = log.size() + kNumRecords * kRecordHeaderBytes;
  log.reserve(end);
  while (log.size() < end) {
    log += MakeHeader(log.size(), end - log.size() - kRecordHeaderBytes, kFileHeaderBytes);
  }
  EXPECT_EQ(Read(log), StatusCode::kOk);
  EXPECT_EQ(batches_, Batches());
}

// Manifests whose checksum is right, but which no database has written.
StatusCode CodeOf(const std::function<void(Manifest*)>& change) {
  Manifest manifest;
  manifest.next_file_number = 20;
  manifest.last_sequence = 1000;
  manifest.log_number = 7;
  manifest.files = {{.number = 3, .level = 0, .num_bytes = 100},
                    {.number = 5, .level = 2, .num_bytes = 200}};
  change(&manifest);
  const std::string bytes = manifest.Encode();
  return Manifest::Decode(AsBytes(bytes)).status().code();
}

TEST(Manifest, WhatADatabaseWroteIsRead) {
  EXPECT_EQ(CodeOf([](Manifest*) {}), StatusCode::kOk);
}

TEST(Manifest, NoFileIsNamedTwice) {
  EXPECT_EQ(CodeOf([](Manifest* m) { m->files[1].number = 3; }), StatusCode::kCorruption);
  EXPECT_EQ(CodeOf([](Manifest* m) { m->files[1].number = m->log_number; }),
            StatusCode::kCorruption);
}

TEST(Manifest, NoFileWouldBeOverwritten) {
  EXPECT_EQ(CodeOf([](Manifest* m) { m->next_file_number = 7; }), StatusCode::kCorruption);
  EXPECT_EQ(CodeOf([](Manifest* m) { m->files[0].number = 20; }), StatusCode::kCorruption);
}

TEST(Manifest, LevelsAndSequencesAreInTheirRange) {
  EXPECT_EQ(CodeOf([](Manifest* m) { m->files[0].level = kNumLevels; }), StatusCode::kCorruption);
  EXPECT_EQ(CodeOf([](Manifest* m) { m->last_sequence = UINT64_MAX; }), StatusCode::kCorruption);
}

}  // namespace
}  // namespace blocksieve::toylsm
