# RocksDB, by its CMake package. Its own release builds have no run-time type information, which
# whatever derives from its classes must then do without, too; those of Debian have it.
find_package(RocksDB REQUIRED)

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
