# Turns C and C++ on, and says in one line what is missing if that cannot be.
include(CheckLanguage)
foreach(language C CXX)
  check_language(${language})
  if(NOT CMAKE_${language}_COMPILER)
    message(FATAL_ERROR "pteron is built from source by a C++20 compiler, and none was found: install one "
      "(Debian: g++, 12 or newer; Windows: MinGW-w64), or name it in the variables CC and CXX.")
  endif()
  enable_language(${language})
endforeach()
include(CheckCXXSourceCompiles)
set(CMAKE_CXX_STANDARD 20)
check_cxx_source_compiles("
  #include <bit>
  #include <concepts>
  #include <span>
  template <std::unsigned_integral T> int bits(std::span<const T> s) { return std::popcount(s[0]); }
  int main() { const unsigned one[1] = {1}; return bits(std::span<const unsigned>(one)) - 1; }"
  pteron_has_cxx20)
if(NOT pteron_has_cxx20)
  message(FATAL_ERROR "pteron is built from source by a C++20 compiler, and ${CMAKE_CXX_COMPILER} "
    "(${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}) is none: install a newer one (Debian: g++, 12 or "
    "newer), or name it in the variable CXX.")
endif()
# Programs that can be loaded anywhere, where the linker has them.
cmake_policy(SET CMP0083 NEW)
include(CheckPIESupported)
check_pie_supported()
