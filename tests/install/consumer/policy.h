#pragma once

#include <rocksdb/filter_policy.h>

#include <memory>

/// Each program's own way to get at a blocksieve policy; null if it fails.
std::shared_ptr<const rocksdb::FilterPolicy> MakePolicy();
