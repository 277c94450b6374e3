#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "integration/toylsm/base/entry.h"
#include "integration/toylsm/base/env.h"

// The write-ahead log: the writes since the last flush. README.md specifies the format.
//
// After a power loss the end of a log may be torn: truncated, or with holes. Synced records must
// not be, so each record has the number of bytes synced before it. An unreadable record is a torn
// end, unless a later one shows that it had been synced.

namespace blocksieve::toylsm {

class LogWriter {
 public:
  /// REQUIRES: the file is empty
  LogWriter(std::unique_ptr<WritableFile> file, uint64_t number)
      : file_(std::move(file)), number_(number) {}

  /// After an error the log must not be used again.
  Status Append(const Entry& entry);
  Status Sync();

 private:
  const std::unique_ptr<WritableFile> file_;
  const uint64_t number_;
  uint64_t num_bytes_ = 0;
  uint64_t synced_bytes_ = 0;
};

/// Calls `visit` with each entry of log `number` up to its end, which may be torn. Takes time
/// linear in the length of the log, whatever its bytes: unless null, adds the number of bytes whose
/// checksums it computed to `*num_checked`. Errors: Corruption if synced bytes are damaged.
Status ReadLog(ByteView log, uint64_t number, const std::function<void(const Entry&)>& visit,
               uint64_t* num_checked = nullptr);

}  // namespace blocksieve::toylsm
