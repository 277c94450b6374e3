#pragma once

namespace blocksieve::cli {

/// The variables of the environment that the command heeds, as the manual page has them.
inline constexpr const char* kEnvironment =
    R"help(  BLOCKSIEVE_KERNEL   the instructions that filters are built and asked with: scalar, avx2, avx512 or
                      neon. Unless it is set, and where there are none of these, the fastest that
                      the processor has. Results do not depend on it.)help";

}  // namespace blocksieve::cli
