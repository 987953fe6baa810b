# Where tests find files. Programs for Windows that are cross-built run under Wine, whose drive Z is
# this system's root; their own tools still see plain paths.
set(PTERON_TEST_DRIVE "")
if(WIN32 AND CMAKE_CROSSCOMPILING)
  set(PTERON_TEST_DRIVE "Z:")
endif()
