#pragma once

#include <gtest/gtest.h>
#include <locale.h>
#include <stdlib.h>

#include <string>

#include "tests/support/temp_dir.h"

namespace blocksieve::testing {

// NOLINTBEGIN(concurrency-mt-unsafe, cert-env33-c): for tests of one thread, with names of their
// own.

/// The locale of the process, as long as this lives: `name`, one of those whose sources Debian's
/// package `locales` has, in UTF-8. Made here, so that none need be installed.
class TestLocale {
 public:
  explicit TestLocale(const std::string& name) {
    const std::string command = "localedef -i " + name + " -f UTF-8 " + (directory_ / name);
    EXPECT_EQ(system(command.c_str()), 0) << command;
    setenv("LOCPATH", directory_.path().c_str(), 1);
    EXPECT_NE(setlocale(LC_ALL, name.c_str()), nullptr) << name;
  }
  ~TestLocale() {
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
  }
  TestLocale(const TestLocale&) = delete;
  TestLocale& operator=(const TestLocale&) = delete;

  static std::string DecimalPoint() { return localeconv()->decimal_point; }

 private:
  TempDir directory_;
};

// NOLINTEND(concurrency-mt-unsafe, cert-env33-c)

}  // namespace blocksieve::testing
