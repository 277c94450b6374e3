#include <string>

#include "integration/toylsm/manifest.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/reseal_toylsm.h"

// Any bytes can be read as a manifest, and what is read can be written so that it reads as the
// same.

namespace blocksieve::testing {
namespace {

void Check(ByteView bytes) {
  const Result<toylsm::Manifest> manifest = toylsm::Manifest::Decode(bytes);
  if (!manifest.ok()) return;
  for (const toylsm::FileInfo& file : manifest->files) {
    Require(file.number < manifest->next_file_number, "a new file replaces none that there is");
  }
  Require(manifest->log_number < manifest->next_file_number, "nor the log");
  Require(manifest->last_sequence <= toylsm::kMaxSequence, "a sequence has 56 bits");
  const std::string written = manifest->Encode();
  const Result<toylsm::Manifest> again = toylsm::Manifest::Decode(AsBytes(written));
  Require(again.ok() && again->Encode() == written, "what was written is read");
}

}  // namespace

void TestOneInput(ByteView bytes) { CheckAlsoResealed(bytes, ResealManifest, Check); }

}  // namespace blocksieve::testing
