# What `cpack`, run in the build tree, makes: Debian packages, one per component of the installation.
# Debian's RocksDB has a shared library.
if(BLOCKSIEVE_ROCKSDB AND NOT TARGET blocksieve_rocksdb)
  return()
endif()

set(BLOCKSIEVE_MAINTAINER "blocksieve maintainers <maintainers@blocksieve.invalid>" CACHE STRING
  "Maintainer that packages name: who builds and hands them out")

# What this project released, as packaged for the first time.
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(package_version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${BLOCKSIEVE_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package's description begins with its own
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/CompressDocs.cmake)
# Whatever the umask of who builds it.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL "")

# The notices of what is compiled into the binaries, as their licences ask.
set(blocksieve_copyright ${PROJECT_BINARY_DIR}/package/copyright)
configure_file(${CMAKE_CURRENT_LIST_DIR}/copyright.in ${blocksieve_copyright} COPYONLY)
foreach(package libcli11-dev libxxhash-dev nlohmann-json3-dev)
  if(EXISTS /usr/share/doc/${package}/copyright)
    file(READ /usr/share/doc/${package}/copyright notice)
    file(APPEND ${blocksieve_copyright} "\n\n${package}\n\n${notice}")
  endif()
endforeach()

# Of SOURCE_DATE_EPOCH, if that is in the environment.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${CMAKE_CURRENT_LIST_DIR}/changelog.Debian.in
  ${PROJECT_BINARY_DIR}/package/changelog.Debian @ONLY)

# blocksieve_package(COMPONENT NAME SECTION DESCRIPTION)
macro(blocksieve_package component name section description)
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION ${description})
  set(docs ${CMAKE_INSTALL_DATAROOTDIR}/doc/${name})
  install(FILES ${blocksieve_copyright} ${PROJECT_BINARY_DIR}/package/changelog.Debian
    DESTINATION ${docs} COMPONENT ${component})
  install(FILES ${PROJECT_SOURCE_DIR}/.github/CHANGELOG.md
    DESTINATION ${docs} RENAME changelog COMPONENT ${component})
endmacro()

# What their CMake and pkg-config files ask for.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libzstd-dev, pkgconf")
blocksieve_package(development libblocksieve-dev libdevel
"filters and skip indexes for storage engines (development)
Headers, the static libraries of the core, which knows no storage engine, and
of the RocksDB plug-in, and what a program needs to link the shared one.")

if(BLOCKSIEVE_ROCKSDB)
  # Named as Debian names libraries, so that programs built with another version keep theirs.
  get_target_property(soversion blocksieve_rocksdb SOVERSION)
  set(plugin_package libblocksieve-rocksdb${soversion})
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    ", librocksdb-dev, ${plugin_package} (= ${package_version})")
  file(WRITE ${PROJECT_BINARY_DIR}/package/triggers "activate-noawait ldconfig\n")
  set(CPACK_DEBIAN_PLUGIN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/package/triggers)
  blocksieve_package(plugin ${plugin_package} libs
"filters and skip indexes for RocksDB (plug-in)
A filter policy for RocksDB that takes a false-positive rate, and skip indexes
on values. Programs that link the shared librocksdb use it without being
recompiled, if it is preloaded.")
endif()

if(TARGET blocksieve_cli)
  # Of blocksieve-preload; the command itself needs no plug-in.
  set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "${plugin_package} (= ${package_version})")
  set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS rocksdb-tools)
  blocksieve_package(command blocksieve database
"shows and checks the filters of RocksDB databases
Sizes filters, inspects and verifies those of a database, loads text into
databases with skip indexes and scans them by value.")
endif()

include(CPack)
