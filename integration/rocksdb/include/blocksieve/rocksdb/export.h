#pragma once

/// \file
/// Visibility of symbols.

/// What libblocksieve_rocksdb.so offers; everything else in it is hidden.
#define BLOCKSIEVE_EXPORT __attribute__((visibility("default")))
