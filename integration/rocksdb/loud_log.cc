#include "integration/rocksdb/loud_log.h"

#include <rocksdb/env.h>

#include <cstdio>

namespace blocksieve::rocksdb_plugin {

void LogLoudly(rocksdb::Logger* info_log, const std::string& message) {
  if (info_log != nullptr) {
    rocksdb::Log(rocksdb::InfoLogLevel::ERROR_LEVEL, info_log, "blocksieve: %s", message.c_str());
  } else {
    std::fprintf(stderr, "blocksieve: %s\n", message.c_str());
  }
}

}  // namespace blocksieve::rocksdb_plugin
