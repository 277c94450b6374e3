#pragma once  // SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace blocksieve::testing {

/// Memory that is followed by a page that cannot be read, so that reading past the end traps.
class GuardedBytes {
 public:
  explicit GuardedBytes(size_t size) : bytes_((size + page_ - 1) / page_ * page_), size_(size) {
    EXPECT_TRUE(Guard(PROT_NONE));
  }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  ~GuardedBytes() { munmap(base_, bytes_ + page_); }

  uint8_t* data() const { return base_ + bytes_ - size_; }

  /// Protects the page after it, by the flags of mprotect. Returns whether that succeeded.
  bool Guard(int protection) const { return mprotect(base_ + bytes_, page_, protection) == 0; }

 private:
  const size_t page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t bytes_;
  const size_t size_;
  uint8_t* const base_ = static_cast<uint8_t*>(
      mmap(nullptr, bytes_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
};

}  // namespace blocksieve::testing
