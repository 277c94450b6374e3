# RocksDB by its CMake package: the system's, or only what is installed under BLOCKSIEVE_ROCKSDB_PREFIX.
if(BLOCKSIEVE_ROCKSDB_PREFIX)
  # What was found before may have been under another prefix.
  unset(RocksDB_DIR CACHE)
  unset(BLOCKSIEVE_ROCKSDB_HAS_RTTI CACHE)
  find_package(RocksDB REQUIRED PATHS ${BLOCKSIEVE_ROCKSDB_PREFIX} NO_DEFAULT_PATH)
else()
  find_package(RocksDB REQUIRED)
endif()

# Upstream's release builds have no run-time type information, those of Debian do. Classes that derive
# from RocksDB's own link only if they are compiled as those were.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES RocksDB::rocksdb-shared)
check_cxx_source_compiles("
  #include <rocksdb/filter_policy.h>
  #include <typeinfo>
  int main() { return typeid(rocksdb::FilterPolicy).name() == nullptr; }"
  BLOCKSIEVE_ROCKSDB_HAS_RTTI)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT BLOCKSIEVE_ROCKSDB_HAS_RTTI)
  set_property(TARGET RocksDB::rocksdb-shared APPEND PROPERTY INTERFACE_COMPILE_OPTIONS -fno-rtti)
endif()
