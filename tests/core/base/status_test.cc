#include "blocksieve/status.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace blocksieve {
namespace {

TEST(Result, HasAValueOrAReason) {
  Result<std::string> text = std::string("text");
  EXPECT_TRUE(text.ok() && text.status().ok());
  EXPECT_EQ(text.value(), "text");
  EXPECT_EQ(text->size(), 4u);
  EXPECT_EQ(*std::move(text), "text");
  const Result<std::string> error = Status::Corruption("byte 3 is damaged");
  EXPECT_FALSE(error.ok());
  EXPECT_EQ(error.status().code(), StatusCode::kCorruption);
}

TEST(ResultDeathTest, ReadingTheValueOfAnErrorAbortsWithTheReason) {
  const Result<std::string> error = Status::Corruption("byte 3 is damaged");
  EXPECT_DEATH(static_cast<void>(error.value()), "a Result has no value: byte 3 is damaged");
  EXPECT_DEATH(static_cast<void>(*error), "byte 3 is damaged");
  EXPECT_DEATH(static_cast<void>(error->size()), "byte 3 is damaged");
  EXPECT_DEATH(Result<std::string>(Status::Ok()), "an ok status instead of a value");
}

}  // namespace
}  // namespace blocksieve
