# Installs the build tree BUILD, and moves the result to PREFIX: a package must not depend on the
# directory that it was installed to.
file(REMOVE_RECURSE ${PREFIX} ${PREFIX}.staged)
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env --unset=DESTDIR ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}.staged
  COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${PREFIX}.staged ${PREFIX})
