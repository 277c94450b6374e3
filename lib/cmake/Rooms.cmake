# blocksieve_rooms(VARIABLE ROOM...): the sources of those folders. A file that comes, goes or gets another
# name is noticed by the next build, so that no list of files stands anywhere.
function(blocksieve_rooms variable)
  list(TRANSFORM ARGN APPEND "/*.cc" OUTPUT_VARIABLE patterns)
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# blocksieve_many_at_once(TARGET): compiles many of its sources as one. Reading the headers of RocksDB,
# GoogleTest, CLI11 and fmt takes most of the time, and so each is read once for all of them. CMAKE_UNITY_BUILD decides
# if it is given, such as OFF for tools that look at one source at a time.
function(blocksieve_many_at_once target)
  if(NOT DEFINED CMAKE_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()
