#pragma once

#include <optional>
#include <string>

#include "blocksieve/bytes.h"

// As reseal.h does it for filters and indexes: the files of the toy LSM with checksums that are
// right for the bytes as they are. integration/toylsm/FORMAT.md says where these stand.

namespace blocksieve::testing {

/// A manifest; nothing if it is too short to have a checksum.
std::optional<std::string> ResealManifest(ByteView manifest);

/// A log, as the log of the number that it has; nothing if it is shorter than its header.
std::optional<std::string> ResealLog(ByteView log);

/// The number in the header of a log, or in the footer of an SST; 0 if it is too short for it.
uint64_t LogNumberOf(ByteView log);
uint64_t SstNumberOf(ByteView sst);

/// An SST as that number; nothing if it has no block index that could be read. Its block index is
/// not compressed then, so that a change of a byte of it is a change of one field.
std::optional<std::string> ResealSst(ByteView sst, uint64_t number);

}  // namespace blocksieve::testing
