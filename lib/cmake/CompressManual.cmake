# CPack runs this before it makes packages of what was installed: Debian's manual pages are compressed.
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/man/man[1-9]/*.[1-9])
if(pages)
  # No time stamps: the same pages give the same package.
  execute_process(COMMAND gzip --best --no-name ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
