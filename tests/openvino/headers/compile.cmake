# Compiles headers.cpp against the headers of OpenVINO VERSION, with COMPILER and our SOURCES.
set(variable PTERON_TEST_OPENVINO_${VERSION})
# For Windows the variable is as Windows sees the folder: on drive Z, which is this system's root.
string(REGEX REPLACE "^Z:" "" place "$ENV{${variable}}")
# The variable names site-packages, or the folder of the libraries beside which the headers lie.
find_path(headers openvino/c/openvino.h NO_DEFAULT_PATH
  PATHS "${place}/openvino/include" "${place}/include" "${place}/../include")
if(place STREQUAL "" OR NOT headers)
  message("skipped: ${variable} does not say where OpenVINO's headers are")
  return()
endif()
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${SOURCES} -isystem ${headers}
  ${CMAKE_CURRENT_LIST_DIR}/headers.cpp RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "our declarations differ from those in ${headers}")
endif()
