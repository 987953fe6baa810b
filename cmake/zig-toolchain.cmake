# What ships for Linux x86-64 is built with zig's C and C++ compilers (clang with its libraries), from
# the PyPI package ziglang, for every system from glibc 2.28 on: scripts/wheel. zig-cc and zig-c++ are
# in the environment `release` of the cache (scripts/lib.sh).
find_program(CMAKE_C_COMPILER zig-cc REQUIRED)
find_program(CMAKE_CXX_COMPILER zig-c++ REQUIRED)
# zlib goes into the command itself. Its headers get a folder of their own: those of this system's
# C library are newer than the one that is built for.
set(ZLIB_LIBRARY /usr/lib/x86_64-linux-gnu/libz.a CACHE FILEPATH "")
set(ZLIB_INCLUDE_DIR ${CMAKE_BINARY_DIR}/zlib/include CACHE PATH "")
file(MAKE_DIRECTORY ${ZLIB_INCLUDE_DIR})
foreach(header zlib.h zconf.h)
  file(CREATE_LINK /usr/include/${header} ${ZLIB_INCLUDE_DIR}/${header} SYMBOLIC)
endforeach()
# Not zig's own runtime: where an object wants anything of it, it takes memcpy and memset with it, at
# half the speed of the C library's. CMake's own trials of the compiler have no -O, and zig then adds
# checks that need its runtime.
get_property(is_trial GLOBAL PROPERTY IN_TRY_COMPILE)
if(NOT is_trial)
  add_link_options(-rtlib=none)
endif()
