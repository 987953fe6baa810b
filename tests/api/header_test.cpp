// The C test as C++: the build compiles this once without exceptions, and once with pteron.hpp.
#ifdef PTERON_TEST_HPP
#include "pteron/pteron.hpp"
#endif
#include "header_test.c"  // NOLINT
