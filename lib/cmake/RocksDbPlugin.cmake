# Sets what RocksDB's CMakeLists.txt takes from that of a plug-in in its tree, in its directory scope.
# RocksDB finds the registration function in blocksieve.mk.
set(root ${CMAKE_CURRENT_SOURCE_DIR})
# All sources but that of the shared plug-in, which takes effect when it is loaded.
file(GLOB sources RELATIVE ${root} CONFIGURE_DEPENDS lib/*/*.cc integration/rocksdb/*/*.cc)
list(FILTER sources EXCLUDE REGEX "/shared_plugin[.]cc$")
file(GLOB headers RELATIVE ${root} CONFIGURE_DEPENDS include/*/*.h
  integration/rocksdb/include/*/*.h integration/rocksdb/include/*/*/*.h)

find_path(BLOCKSIEVE_JSON_INCLUDE_DIR nlohmann/json.hpp REQUIRED)
# Trees that build lz4 themselves find its xxhash.h, which has no XXH3, before the system's.
find_file(BLOCKSIEVE_XXHASH xxhash.h REQUIRED)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/xxhash/xxhash.h "#include \"${BLOCKSIEVE_XXHASH}\"\n")

set(blocksieve_SOURCES ${sources} PARENT_SCOPE)
set(blocksieve_HEADERS ${headers} PARENT_SCOPE)
set(blocksieve_INCLUDE_PATHS ${root} ${root}/include ${root}/integration/rocksdb/include
  ${CMAKE_CURRENT_BINARY_DIR}/xxhash ${BLOCKSIEVE_JSON_INCLUDE_DIR} PARENT_SCOPE)
# RocksDB before 10.7 is C++17. The warnings come from headers of GCC 12 (GCC bugs 105593, 105651); Clang does
# not know all of them.
set(blocksieve_COMPILE_FLAGS
  "-std=c++20 -Wno-unknown-warning-option -Wno-uninitialized -Wno-maybe-uninitialized -Wno-restrict"
  PARENT_SCOPE)
