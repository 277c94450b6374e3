#pragma once

#include <locale.h>

namespace blocksieve::internal {

/// For as long as it lives, this thread reads and writes numbers as they are in the locale "C": for
/// calls of libraries that go by the locale of the program.
class CLocale {
 public:
  CLocale() noexcept : previous_(uselocale(Locale())) {}
  ~CLocale() { uselocale(previous_); }
  CLocale(const CLocale&) = delete;
  CLocale& operator=(const CLocale&) = delete;

 private:
  static locale_t Locale() noexcept {
    static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
    return locale;
  }

  locale_t previous_;
};

}  // namespace blocksieve::internal
