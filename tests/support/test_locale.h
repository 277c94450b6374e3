#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <locale.h>
#include <stdlib.h>

#include "tests/support/temp_dir.h"

namespace blocksieve::testing {

// NOLINTBEGIN(concurrency-mt-unsafe, cert-env33-c): for single-threaded tests with fixed names.

/// Sets the locale of the process during its lifetime: `name`, in UTF-8, from the sources in
/// Debian's package `locales`. Compiled here, so that no locale must be installed.
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
