# Installs the build tree BUILD, and moves the result to PREFIX: packages must be relocatable.
file(REMOVE_RECURSE ${PREFIX} ${PREFIX}.staged)
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env --unset=DESTDIR ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}.staged
  COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${PREFIX}.staged ${PREFIX})
