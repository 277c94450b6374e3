#pragma once

// The sanitizers that this is compiled with: GCC defines macros, Clang has __has_feature.
#ifdef __has_feature
#define BLOCKSIEVE_HAS_FEATURE(feature) __has_feature(feature)
#else
#define BLOCKSIEVE_HAS_FEATURE(feature) 0
#endif

namespace blocksieve::testing {

#if defined(__SANITIZE_ADDRESS__) || BLOCKSIEVE_HAS_FEATURE(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || BLOCKSIEVE_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif

/// Whether a library can be preloaded: a sanitizer's own library must be the first.
inline constexpr bool kCanPreload = !kAddressSanitizer && !kThreadSanitizer;

}  // namespace blocksieve::testing

#undef BLOCKSIEVE_HAS_FEATURE
