# What is installed besides targets and headers: the CMake package and pkg-config files. The components of
# an installation are development, plugin and command; DebianPackages.cmake makes a package of each.

include(CMakePackageConfigHelpers)

set(blocksieve_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/blocksieve)

# A pkg-config file that finds its prefix by where it is itself, so that the tree can be moved.
function(blocksieve_install_pc template)
  cmake_path(GET template STEM name)
  set(pc_dir ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH prefix_from_pc ${pc_dir} ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
  file(RELATIVE_PATH include_from_prefix ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  file(RELATIVE_PATH lib_from_prefix ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
  configure_file(${template} ${PROJECT_BINARY_DIR}/package/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/blocksieveConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/blocksieveConfig.cmake
  INSTALL_DESTINATION ${blocksieve_package_dir})
# Before 1.0 a minor version may change anything.
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/package/blocksieveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES
    ${PROJECT_BINARY_DIR}/package/blocksieveConfig.cmake
    ${PROJECT_BINARY_DIR}/package/blocksieveConfigVersion.cmake
  DESTINATION ${blocksieve_package_dir} COMPONENT development)

install(EXPORT blocksieve FILE blocksieveTargets.cmake
  NAMESPACE blocksieve:: DESTINATION ${blocksieve_package_dir} COMPONENT development)
blocksieve_install_pc(${CMAKE_CURRENT_LIST_DIR}/blocksieve.pc.in)

if(BLOCKSIEVE_ROCKSDB)
  install(EXPORT blocksieve_rocksdb FILE blocksieveRocksdbTargets.cmake
    NAMESPACE blocksieve:: DESTINATION ${blocksieve_package_dir} COMPONENT development)
  if(TARGET blocksieve_rocksdb)
    blocksieve_install_pc(${PROJECT_SOURCE_DIR}/integration/rocksdb/blocksieve_rocksdb.pc.in)
  endif()
endif()
