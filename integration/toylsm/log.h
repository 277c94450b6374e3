#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "integration/toylsm/base/entry.h"
#include "integration/toylsm/base/env.h"

// The write-ahead log: the writes since the last flush. FORMAT.md has the layout.
//
// After a power loss the end of a log may be torn: cut, or with holes. That is not damage to what
// was promised to last, so each record says how much of the log was synced before it. A record that
// cannot be read is a torn end, unless a later one says that it had been synced.

namespace blocksieve::toylsm {

class LogWriter {
 public:
  /// Takes over an empty file.
  LogWriter(std::unique_ptr<WritableFile> file, uint64_t number)
      : file_(std::move(file)), number_(number) {}

  /// After an error the log must not be used any more.
  Status Append(const Entry& entry);
  Status Sync();

 private:
  const std::unique_ptr<WritableFile> file_;
  const uint64_t number_;
  uint64_t num_bytes_ = 0;
  uint64_t synced_bytes_ = 0;
};

/// Calls `visit` with each entry of log `number`, up to its end, torn or not.
/// Errors: Corruption if bytes that were synced are damaged.
Status ReadLog(ByteView log, uint64_t number, const std::function<void(const Entry&)>& visit);

}  // namespace blocksieve::toylsm
