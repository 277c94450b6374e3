#pragma once

#include <memory>
#include <string>

#include "blocksieve/status.h"
#include "integration/toylsm/iterator.h"
#include "integration/toylsm/manifest.h"

namespace blocksieve::toylsm {

/// What a directory holds.
struct Recovered {
  Manifest manifest;
  std::shared_ptr<Version> version;  ///< its memtable has what the log has
  Sequence last_sequence = 0;        ///< of all

  /// Everything there is.
  View view() const { return {version, last_sequence}; }
};

/// Reads manifest, files and log, and changes nothing. The process that writes the database may go
/// on meanwhile; but if it removes a file before that has been opened here, this is an error, and
/// to be tried again if the manifest has changed.
/// Errors: Corruption, NotSupported (a newer version), ResourceExhausted (the file system).
Result<Recovered> ReadDirectory(Env* env, const std::string& directory, const ReadContext& context);

}  // namespace blocksieve::toylsm
