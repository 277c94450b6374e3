# blocksieve_rooms(VARIABLE ROOM...): the sources of those folders. A file that comes, goes or gets another
# name is noticed by the next build, so that no list of files stands anywhere.
function(blocksieve_rooms variable)
  list(TRANSFORM ARGN APPEND "/*.cc" OUTPUT_VARIABLE patterns)
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()
