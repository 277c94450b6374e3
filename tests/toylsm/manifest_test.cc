#include "integration/toylsm/manifest.h"

#include <gtest/gtest.h>

#include <functional>

// Manifests whose checksum is right, but which no database has written.

namespace blocksieve::toylsm {
namespace {

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
