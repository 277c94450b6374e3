# CPack runs this before it makes packages of what was installed: Debian's manual pages and
# changelogs are compressed.
file(GLOB_RECURSE files ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*)
list(FILTER files INCLUDE REGEX "/man/man[1-9]/|/doc/[^/]*/changelog")
# No time stamps: the same files give the same package.
execute_process(COMMAND gzip --best --no-name ${files} COMMAND_ERROR_IS_FATAL ANY)
