#pragma once

#include <string_view>

namespace blocksieve::cli {

/// To be called before any file is opened. A descriptor of standard input, output or error that is
/// closed would be given to the next file that is opened, and rows would be written into a database
/// file: such descriptors are made to fail instead. Writing to a pipe that nobody reads becomes an
/// error of the write, see Output.
void PrepareStandardStreams();

/// Writes to standard error, at once. If that fails nobody is left to be told.
void WriteToStandardError(std::string_view text);

}  // namespace blocksieve::cli
