# Runs PROGRAM, made of SOURCE, which has to succeed and to print what SOURCE's comments say.
set(directory ${PROGRAM}.run)  # for what it writes, made anew
file(REMOVE_RECURSE ${directory})
file(MAKE_DIRECTORY ${directory})
execute_process(COMMAND ${PROGRAM} WORKING_DIRECTORY ${directory}
  OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
file(READ ${SOURCE} source)
string(REGEX MATCH "// prints: ([^\n]*)" matched "${source}")
if(matched)
  string(FIND "${output}" "${CMAKE_MATCH_1}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "printed \"${output}\", but README.md says \"${CMAKE_MATCH_1}\"")
  endif()
endif()
