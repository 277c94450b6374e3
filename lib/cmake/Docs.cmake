# Target docs: the reference of the public headers, as HTML in docs/ of the build tree.

find_package(Doxygen QUIET)
if(NOT DOXYGEN_FOUND)
  message(STATUS "No doxygen: no target docs")
  return()
endif()

set(DOXYGEN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
set(DOXYGEN_HTML_OUTPUT docs)
set(DOXYGEN_USE_MDFILE_AS_MAINPAGE ${PROJECT_SOURCE_DIR}/README.md)
# Paths as programs include them.
set(blocksieve_public_headers ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/integration/rocksdb/include)
set(DOXYGEN_STRIP_FROM_PATH ${blocksieve_public_headers} ${PROJECT_SOURCE_DIR})
set(DOXYGEN_STRIP_FROM_INC_PATH ${blocksieve_public_headers})
# In public headers only so that the public can be inlined.
set(DOXYGEN_EXCLUDE_SYMBOLS blocksieve::internal)

# A public name without a word on it is an error, as is a word on what does not exist.
set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)
# Of later doxygens than Debian 12's; CMake passes on only what the one that it found knows.
set(DOXYGEN_WARN_IF_UNDOC_ENUM_VAL YES)
set(DOXYGEN_QUIET YES)
# One comment for the members between @{ and @}, such as the overloads of one function.
set(DOXYGEN_DISTRIBUTE_GROUP_DOC YES)
# Comments are written so that their first sentence can stand alone.
set(DOXYGEN_JAVADOC_AUTOBRIEF YES)
set(DOXYGEN_MACRO_EXPANSION YES)
set(DOXYGEN_PREDEFINED BLOCKSIEVE_EXPORT=)
set(DOXYGEN_EXPAND_ONLY_PREDEF YES)
set(DOXYGEN_SORT_MEMBER_DOCS NO)
# The same pages whether or not graphviz is there.
set(DOXYGEN_HAVE_DOT NO)
set(DOXYGEN_CLASS_GRAPH NO)

# Links to pages that are no part of the reference become their text. Doxygen knows no <picture>.
set(DOXYGEN_FILTER_PATTERNS "*.md=sed -E -e '/^<picture/,/^<.picture/d' -e 's/\\[([^]]*)\\]\\([^:)]*\\)/\\1/g'")

doxygen_add_docs(docs ${blocksieve_public_headers} ${PROJECT_SOURCE_DIR}/README.md)
