# RocksDB as RocksDB::rocksdb-shared, RocksDB::rocksdb (static) or both: what a parent project builds, else its
# CMake package, the system's or only what is installed under BLOCKSIEVE_ROCKSDB_PREFIX.
foreach(kind "" -shared)
  if(TARGET rocksdb${kind} AND NOT TARGET RocksDB::rocksdb${kind})
    add_library(RocksDB::rocksdb${kind} INTERFACE IMPORTED GLOBAL)
    target_link_libraries(RocksDB::rocksdb${kind} INTERFACE rocksdb${kind})
    # Targets of old versions do not name their headers.
    get_target_property(BLOCKSIEVE_ROCKSDB_SOURCE_DIR rocksdb${kind} SOURCE_DIR)
    if(EXISTS ${BLOCKSIEVE_ROCKSDB_SOURCE_DIR}/include/rocksdb)
      target_include_directories(RocksDB::rocksdb${kind} INTERFACE ${BLOCKSIEVE_ROCKSDB_SOURCE_DIR}/include)
    endif()
  endif()
endforeach()

if(BLOCKSIEVE_ROCKSDB_PREFIX)
  # What was found before may have been under another prefix.
  unset(RocksDB_DIR CACHE)
  unset(BLOCKSIEVE_ROCKSDB_HAS_RTTI CACHE)
  find_package(RocksDB REQUIRED PATHS ${BLOCKSIEVE_ROCKSDB_PREFIX} NO_DEFAULT_PATH)
elseif(NOT TARGET RocksDB::rocksdb AND NOT TARGET RocksDB::rocksdb-shared)
  find_package(RocksDB QUIET)
endif()
if(NOT TARGET RocksDB::rocksdb AND NOT TARGET RocksDB::rocksdb-shared)
  if(BLOCKSIEVE_STANDALONE)
    message(FATAL_ERROR "BLOCKSIEVE_STANDALONE needs RocksDB's CMake package; on Debian, install librocksdb-dev")
  endif()
  message(NOTICE "blocksieve: no CMake package of RocksDB (Debian: librocksdb-dev, or set "
    "BLOCKSIEVE_ROCKSDB_PREFIX) was found, so only the core is built. ${RocksDB_NOT_FOUND_MESSAGE}")
  set(BLOCKSIEVE_ROCKSDB OFF)
  return()
endif()

set(BLOCKSIEVE_ROCKSDB_LIBRARY RocksDB::rocksdb-shared)
if(NOT TARGET RocksDB::rocksdb-shared)
  set(BLOCKSIEVE_ROCKSDB_LIBRARY RocksDB::rocksdb)
  if(BLOCKSIEVE_TESTS OR BLOCKSIEVE_BENCHMARKS)
    message(FATAL_ERROR "blocksieve: tests and benchmarks link RocksDB's shared library, and there is only the "
      "static one; pass -DBLOCKSIEVE_TESTS=OFF -DBLOCKSIEVE_BENCHMARKS=OFF")
  endif()
endif()
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
if(BLOCKSIEVE_ROCKSDB_SOURCE_DIR AND NOT DEFINED BLOCKSIEVE_ROCKSDB_HAS_RTTI)
  # Not built yet, so nothing can be linked with it.
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  set(BLOCKSIEVE_ROCKSDB_HAS_RTTI ON)
  foreach(variable CMAKE_CXX_FLAGS CMAKE_CXX_FLAGS_${build_type})
    get_directory_property(flags DIRECTORY ${BLOCKSIEVE_ROCKSDB_SOURCE_DIR} DEFINITION ${variable})
    if(flags MATCHES "-fno-rtti")
      set(BLOCKSIEVE_ROCKSDB_HAS_RTTI OFF)
    endif()
  endforeach()
endif()
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES ${BLOCKSIEVE_ROCKSDB_LIBRARY})
check_cxx_source_compiles("
  #include <rocksdb/filter_policy.h>
  #include <typeinfo>
  int main() { return typeid(rocksdb::FilterPolicy).name() == nullptr; }"
  BLOCKSIEVE_ROCKSDB_HAS_RTTI)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT BLOCKSIEVE_ROCKSDB_HAS_RTTI)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()
