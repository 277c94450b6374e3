#pragma once

namespace blocksieve::testing {

// GCC defines a macro, Clang has __has_feature.
#ifdef __SANITIZE_THREAD__
inline constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
inline constexpr bool kThreadSanitizer = false;
#endif

}  // namespace blocksieve::testing
