#pragma once

#include "blocksieve/rocksdb/listener.h"

namespace blocksieve {

/// What NewListener was called when it told of levels only.
inline std::shared_ptr<rocksdb::EventListener> NewLevelListener() { return NewListener(); }

}  // namespace blocksieve
