#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <locale.h>

namespace blocksieve::internal {

/// Sets the locale "C" for this thread while it lives, for library calls that read or write numbers
/// in the program's locale.
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
