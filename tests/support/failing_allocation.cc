// SPDX-License-Identifier: Apache-2.0
#include "tests/support/failing_allocation.h"

#include <link.h>
#include <unwind.h>

#include <cstdlib>
#include <new>
#include <string_view>

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): names for --wrap
extern "C" {
void* __real_malloc(size_t size);
void* __real_aligned_alloc(size_t alignment, size_t size);
void* __wrap_malloc(size_t size);
void* __wrap_aligned_alloc(size_t alignment, size_t size);
}
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)

namespace blocksieve::testing {
namespace {

thread_local uint64_t allocations_left = 0;  // until one fails; 0: none fails
thread_local bool fails_for_good = false;
thread_local bool has_failed = false;

/// Addresses of the code of a shared library; none if it is not loaded.
struct LibraryCode {
  explicit LibraryCode(std::string_view library) : name(library) {
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* argument) {
          auto* const self = static_cast<LibraryCode*>(argument);
          if (std::string_view(info->dlpi_name).find(self->name) == std::string_view::npos) {
            return 0;
          }
          for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& segment = info->dlpi_phdr[i];
            if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
            self->begin = info->dlpi_addr + segment.p_vaddr;
            self->end = self->begin + segment.p_memsz;
          }
          return 1;
        },
        this);
  }
  bool Holds(uintptr_t address) const { return begin <= address && address < end; }

  std::string_view name;
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

/// Whether RocksDB allocates, directly or through a container, whose code is in libstdc++.
bool IsForRocksDb(const void* caller) {
  static const LibraryCode rocksdb("librocksdb");
  static const LibraryCode standard("libstdc++");
  const auto address = reinterpret_cast<uintptr_t>(caller);
  if (!standard.Holds(address)) return rocksdb.Holds(address);
  struct Search {
    bool is_in_container = false;
    bool is_for_rocksdb = false;
  } search;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* argument) {
        auto* const found = static_cast<Search*>(argument);
        const uintptr_t frame = _Unwind_GetIP(context);
        if (standard.Holds(frame)) {
          found->is_in_container = true;
        } else if (found->is_in_container) {
          found->is_for_rocksdb = rocksdb.Holds(frame);
          return _URC_END_OF_STACK;
        }
        return _URC_NO_REASON;
      },
      &search);
  return search.is_for_rocksdb;
}

bool MayAllocate(const void* caller) {
  if (allocations_left == 0 || IsForRocksDb(caller)) return true;
  if (allocations_left > 1) {
    --allocations_left;
    return true;
  }
  has_failed = true;
  if (!fails_for_good) allocations_left = 0;
  return false;
}

void* Allocate(size_t size, const void* caller) {
  return MayAllocate(caller) ? __real_malloc(size == 0 ? 1 : size) : nullptr;
}

void* AllocateOrThrow(size_t size, const void* caller) {
  if (void* const memory = Allocate(size, caller)) return memory;
  throw std::bad_alloc();
}

}  // namespace

FailingAllocation::FailingAllocation(uint64_t n, bool for_good) {
  has_failed = false;
  fails_for_good = for_good;
  allocations_left = n;
}

FailingAllocation::~FailingAllocation() { End(); }

void FailingAllocation::End() {
  allocations_left = 0;
  happened_ = has_failed;
}

}  // namespace blocksieve::testing

using blocksieve::testing::Allocate;
using blocksieve::testing::AllocateOrThrow;

void* __wrap_malloc(size_t size) { return Allocate(size, __builtin_return_address(0)); }

void* __wrap_aligned_alloc(size_t alignment, size_t size) {
  return blocksieve::testing::MayAllocate(__builtin_return_address(0))
             ? __real_aligned_alloc(alignment, size)
             : nullptr;
}

// Not inlined, as GCC would warn that free() does not match operator new.
[[gnu::noinline]] void* operator new(size_t size) {
  return AllocateOrThrow(size, __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new[](size_t size) {
  return AllocateOrThrow(size, __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return Allocate(size, __builtin_return_address(0));
}
[[gnu::noinline]] void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return Allocate(size, __builtin_return_address(0));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
