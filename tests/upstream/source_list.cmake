# Compares the sources that MK lists with EXPECTED, those of this project's own libraries.
file(STRINGS ${MK} listed REGEX "^blocksieve_SOURCES = ")
string(REPLACE ";" " " expected "blocksieve_SOURCES = ${EXPECTED}")
if(NOT listed STREQUAL expected)
  message(NOTICE "${expected}")
  message(FATAL_ERROR "${MK} lists other sources than this project builds; the right line is above")
endif()
