// SPDX-License-Identifier: Apache-2.0
#include <blocksieve/rocksdb/enable.h>

// All that a program adds that has the plug-in linked into it: see user_program.cc.

namespace {

[[maybe_unused]] const int registered = blocksieve_rocksdb_register();

}  // namespace
