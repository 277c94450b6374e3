#include "integration/toylsm/log.h"
#include "integration/toylsm/write_batch.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/reseal_toylsm.h"

// Any bytes can be read as a log: batches, one behind the other, each of whose entries can be read,
// up to an end that is torn or an error.

namespace blocksieve::testing {
namespace {

void ReadBatch(ByteView batch, toylsm::Sequence first_sequence) {
  toylsm::BatchReader reader(batch, first_sequence);
  uint64_t num_entries = 0;
  uint64_t num_bytes = 0;
  while (reader.Next()) {
    Require(reader.entry().sequence == first_sequence + num_entries++, "entries are numbered");
    num_bytes += 2 + reader.entry().key.size() + reader.entry().value.size();
  }
  Require(num_bytes <= batch.size(), "entries lie in their batch");
  Require(!reader.status().ok() || num_entries > 0 || batch.empty(), "only no bytes are no entry");
}

void Read(ByteView log) {
  const uint8_t* end = log.data();
  const Status status =
      toylsm::ReadLog(log, LogNumberOf(log), [&](ByteView batch, toylsm::Sequence first_sequence) {
        Require(batch.data() >= end && batch.data() + batch.size() <= log.data() + log.size(),
                "batches lie in the log, one behind the other");
        end = batch.data() + batch.size();
        ReadBatch(batch, first_sequence);
        return Status::Ok();
      });
  Require(status.ok() || status.code() == StatusCode::kCorruption ||
              status.code() == StatusCode::kNotSupported,
          "what is wrong with a log is damage, or a newer version");
}

}  // namespace

void TestOneInput(ByteView bytes) { CheckAlsoResealed(bytes, ResealLog, Read); }

}  // namespace blocksieve::testing
