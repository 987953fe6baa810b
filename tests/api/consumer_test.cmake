# Installs the library, builds tests/api/consumer with it, and runs what that gives.
# Variables: BUILD (of Pteron), SOURCE (of Pteron), WORK (an empty folder to use), C, CXX, FLAGS.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
# A folder with a space, and the project in another place than Pteron's.
file(MAKE_DIRECTORY "${WORK}/a project")
file(COPY ${SOURCE}/tests/api/consumer/CMakeLists.txt ${SOURCE}/examples/hello_c/hello.c
  ${SOURCE}/examples/custom_operator/main.cpp DESTINATION "${WORK}/a project")
run(${CMAKE_COMMAND} --install ${BUILD} --component library --prefix "${WORK}/installed")
run(${CMAKE_COMMAND} --install ${BUILD} --component command --prefix "${WORK}/installed")
if(EXISTS "${WORK}/installed/bin/pteron")
  # The installed command finds the library beside it, from any folder.
  file(RENAME "${WORK}/installed" "${WORK}/moved")
  run(${CMAKE_COMMAND} -E chdir / "${WORK}/moved/bin/pteron" info ${SOURCE}/examples/custom_operator/scale.pte)
  file(RENAME "${WORK}/moved" "${WORK}/installed")
endif()
run(${CMAKE_COMMAND} -S "${WORK}/a project" -B "${WORK}/build" -G Ninja
  "-DCMAKE_PREFIX_PATH=${WORK}/installed" -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX}
  "-DCMAKE_C_FLAGS=${FLAGS}" "-DCMAKE_CXX_FLAGS=${FLAGS}" "-DCMAKE_EXE_LINKER_FLAGS=${FLAGS}")
run(${CMAKE_COMMAND} --build "${WORK}/build")
set(program ${SOURCE}/examples/custom_operator/scale.pte)
run("${WORK}/build/consumer_cpp" ${program})
if(NOT output STREQUAL "3.5\n6\n8.5\n11\n13.5\n16\n")
  message(FATAL_ERROR "the C++ consumer printed: ${output}")
endif()
execute_process(COMMAND "${WORK}/build/consumer_c" ${program} RESULT_VARIABLE status ERROR_VARIABLE error)
if(NOT status EQUAL 1 OR NOT error MATCHES "my_ops::scale.out")
  message(FATAL_ERROR "the C consumer, without the operator, ended with ${status}: ${error}")
endif()
