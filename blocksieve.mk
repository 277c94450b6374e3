# Makes a clone of this repository in plugin/blocksieve of a RocksDB tree (7.0.3 or later) its plug-in:
# make ROCKSDB_PLUGINS=blocksieve static_lib. For the tree's CMake build, CMakeLists.txt does that; it
# also reads the lines with _FUNC and _LIBS here, by regular expressions.

blocksieve_SOURCES := $(patsubst plugin/blocksieve/%,%,$(filter-out %/shared_plugin.cc,\
  $(wildcard plugin/blocksieve/lib/*/*.cc plugin/blocksieve/integration/rocksdb/*/*.cc)))
blocksieve_HEADERS := $(patsubst plugin/blocksieve/%,%,$(wildcard plugin/blocksieve/include/*/*.h \
  $(addprefix plugin/blocksieve/integration/rocksdb/include/,*/*.h */*/*.h)))
blocksieve_FUNC = blocksieve_register
blocksieve_LIBS = zstd
blocksieve_LDFLAGS = -lzstd

# Trees that build lz4 themselves find its xxhash.h, which has no XXH3, before the system's. So a
# directory with nothing but a way to the system's is searched first.
blocksieve_HASH := \#
blocksieve_XXHASH := $(shell echo '$(blocksieve_HASH)include <xxhash.h>' | $(CXX) -E -x c++ - | \
  sed -n 's|^. 1 "\(/.*/xxhash[.]h\)".*|\1|p' | head -n 1)
ifeq ($(blocksieve_XXHASH),)
  $(error blocksieve: $(CXX) finds no xxhash.h; on Debian it is in libxxhash-dev)
endif
# RocksDB's java/Makefile reads this file too, in another directory.
$(shell cd plugin/blocksieve 2>/dev/null && [ ! -f build/xxhash/xxhash.h ] && \
  mkdir -p build/xxhash && \
  echo '$(blocksieve_HASH)include "$(blocksieve_XXHASH)"' >build/xxhash/xxhash.h)
blocksieve_CXXFLAGS = -Iplugin/blocksieve/build/xxhash -Iplugin/blocksieve \
  -Iplugin/blocksieve/include -Iplugin/blocksieve/integration/rocksdb/include

# RocksDB before 10.7 is C++17. The warnings come from headers of GCC 12 (GCC bugs 105593, 105651);
# Clang does not know all of them.
$(OBJ_DIR)/plugin/blocksieve/%: CXXFLAGS += -std=c++20 -Wno-unknown-warning-option \
  -Wno-uninitialized -Wno-maybe-uninitialized -Wno-restrict
