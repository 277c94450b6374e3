#pragma once

/// \file
/// Visibility of symbols.

/// Marks what libblocksieve_rocksdb.so exports. Everything else in it is hidden.
#define BLOCKSIEVE_EXPORT __attribute__((visibility("default")))
