# RocksDB by its CMake package: the system's, or only what is installed under BLOCKSIEVE_ROCKSDB_PREFIX.
if(BLOCKSIEVE_ROCKSDB_PREFIX)
  # What was found before may have been under another prefix.
  unset(RocksDB_DIR CACHE)
  unset(BLOCKSIEVE_ROCKSDB_HAS_RTTI CACHE)
  find_package(RocksDB REQUIRED PATHS ${BLOCKSIEVE_ROCKSDB_PREFIX} NO_DEFAULT_PATH)
else()
  find_package(RocksDB REQUIRED)
endif()

set(BLOCKSIEVE_ROCKSDB_LIBRARY RocksDB::rocksdb-shared)
if(BLOCKSIEVE_STANDALONE)
  # Its package names the shared objects of what it needs, a static program links their archives.
  set(BLOCKSIEVE_ROCKSDB_LIBRARY RocksDB::rocksdb)
  if(NOT TARGET RocksDB::rocksdb)
    message(FATAL_ERROR "BLOCKSIEVE_STANDALONE: ${RocksDB_DIR} has no librocksdb.a; take a RocksDB that has")
  endif()
  get_property(libraries TARGET RocksDB::rocksdb PROPERTY INTERFACE_LINK_LIBRARIES)
  list(TRANSFORM libraries REPLACE "^.<LINK_ONLY:(.*)>$" "\\1")
  set(archives "")
  foreach(library IN LISTS libraries)
    if(TARGET ${library})
      get_target_property(location ${library} LOCATION)
      if(location)
        set(library ${location})
      endif()
    endif()
    string(REGEX REPLACE "[.]so[.0-9]*$" ".a" library ${library})
    if(IS_ABSOLUTE ${library} AND NOT EXISTS ${library})
      message(FATAL_ERROR "BLOCKSIEVE_STANDALONE: there is no ${library}, which RocksDB needs; install it")
    endif()
    list(APPEND archives ${library})
  endforeach()
  set_target_properties(RocksDB::rocksdb PROPERTIES INTERFACE_LINK_LIBRARIES "${archives}")
endif()

# Upstream's release builds have no run-time type information, those of Debian do. Classes that derive
# from RocksDB's own link only if they are compiled as those were.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES ${BLOCKSIEVE_ROCKSDB_LIBRARY})
check_cxx_source_compiles("
  #include <rocksdb/filter_policy.h>
  #include <typeinfo>
  int main() { return typeid(rocksdb::FilterPolicy).name() == nullptr; }"
  BLOCKSIEVE_ROCKSDB_HAS_RTTI)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT BLOCKSIEVE_ROCKSDB_HAS_RTTI)
  set_property(TARGET ${BLOCKSIEVE_ROCKSDB_LIBRARY} APPEND PROPERTY INTERFACE_COMPILE_OPTIONS -fno-rtti)
endif()
