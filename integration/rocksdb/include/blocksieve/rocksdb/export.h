#pragma once

/// What libblocksieve_rocksdb.so offers; everything else in it is hidden.
#define BLOCKSIEVE_EXPORT __attribute__((visibility("default")))
