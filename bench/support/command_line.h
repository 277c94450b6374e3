#pragma once

namespace CLI {
class App;
}

namespace blocksieve::bench {

/// What --help of a job ends with.
inline constexpr const char* kExitCodes =
    R"(Exit codes: 0 all measured; 1 something failed or gave a wrong answer; 2 wrong arguments; 128 + n
ended by signal n. What is missed is no failure.)";

/// Parses into what the options of `app` are bound to. Throws Exit once help, or what is wrong, has
/// been printed.
void ParseOrExit(CLI::App& app, int argc, const char* const* argv);

}  // namespace blocksieve::bench
