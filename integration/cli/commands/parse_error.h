#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace blocksieve::cli {

/// What is wrong with a command line, in the order in which it was typed, with what was probably
/// meant in place of words that nobody knows.
std::string DescribeParseError(const CLI::App& app, const CLI::ParseError& error,
                               const std::vector<std::string>& arguments);

}  // namespace blocksieve::cli
