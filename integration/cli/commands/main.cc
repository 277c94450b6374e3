// SPDX-License-Identifier: Apache-2.0
#include "integration/cli/commands/options.h"

// Without memory for the arguments there is none for an error.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) { return blocksieve::cli::RunCommandLine(argc, argv); }
