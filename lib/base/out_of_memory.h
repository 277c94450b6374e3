#pragma once

#include <new>  // std::bad_alloc, which its users catch

#include "blocksieve/status.h"

namespace blocksieve::internal {

/// What a function that returns a Status or Result gives instead of throwing std::bad_alloc. The
/// message is so short that a string holds it without memory of its own.
inline Status OutOfMemory() { return Status::ResourceExhausted("out of memory"); }

}  // namespace blocksieve::internal
