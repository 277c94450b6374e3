# Compiles through ccache where it is installed. With these settings, objects of one clone or build
# tree serve in another, sources with precompiled headers are cached too, and nothing is preprocessed
# to look it up: the compiler lists what it has read.
find_program(CCACHE ccache)
mark_as_advanced(CCACHE)
if(CCACHE)
  set(ccache_environment CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
    CCACHE_SLOPPINESS=pch_defines,time_macros)
  set(CMAKE_CXX_COMPILER_LAUNCHER env ${ccache_environment} ${CCACHE})
  # And of builds that tests make.
  list(APPEND ccache_environment CMAKE_CXX_COMPILER_LAUNCHER=${CCACHE})
endif()
