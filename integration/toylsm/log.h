#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "blocksieve/bytes.h"
#include "blocksieve/status.h"
#include "integration/toylsm/base/entry.h"
#include "integration/toylsm/base/env.h"

// The write-ahead log: batches of writes since the last flush. FORMAT.md has the layout.
//
// After a power loss the end of a log may be torn: cut, or with holes. It must be told from damage
// to what was promised to last, so each record says how much of the log was synced before it. A
// record that cannot be read is a torn end, unless a later one says that it had been synced.

namespace blocksieve::toylsm {

class LogWriter {
 public:
  /// The file is empty and synced when this returns; its name is not.
  static Result<std::unique_ptr<LogWriter>> Create(Env* env, const std::string& path,
                                                   uint64_t number);

  /// One record. After an error the log must not be used any more. REQUIRES: less than 4 GiB.
  Status Append(std::string_view batch, Sequence first_sequence);
  Status Sync();

  /// Syncs, and adds a record that says so: after it every damage is noticed.
  Status Close(Sequence next_sequence);

 private:
  LogWriter(std::unique_ptr<WritableFile> file, uint64_t number)
      : file_(std::move(file)), number_(number) {}

  const std::unique_ptr<WritableFile> file_;
  const uint64_t number_;
  uint64_t num_bytes_ = 0;
  uint64_t synced_bytes_ = 0;
};

/// Gives `visit` each batch of a log up to its end, torn or not. Stops at errors of `visit`.
/// Errors: Corruption (not log `number`, damaged in the middle), NotSupported (newer version).
Status ReadLog(ByteView log, uint64_t number,
               const std::function<Status(ByteView batch, Sequence first_sequence)>& visit);

/// Whether a log of so many bytes holds nothing: its creation may not even have been finished.
bool IsEmptyLog(uint64_t num_bytes);

}  // namespace blocksieve::toylsm
