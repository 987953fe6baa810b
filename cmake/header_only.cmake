# nlohmann-json, CLI11 and xsimd: header-only, from Debian's packages. Each gets a folder of its own, since a
# cross build must not see the rest of this system's headers.
function(pteron_header_only name header folder)
  find_path(${name}_headers ${header} REQUIRED NO_CMAKE_FIND_ROOT_PATH PATHS /usr/include
    DOC "Where ${header} is; Debian's packages are nlohmann-json3-dev, libcli11-dev and libxsimd-dev")
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/${name}/include)
  file(CREATE_LINK ${${name}_headers}/${folder} ${PROJECT_BINARY_DIR}/${name}/include/${folder} SYMBOLIC)
  add_library(${name} INTERFACE)
  target_include_directories(${name} SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/${name}/include)
endfunction()
pteron_header_only(pteron_xsimd xsimd/xsimd.hpp xsimd)
pteron_header_only(pteron_nlohmann_json nlohmann/json.hpp nlohmann)
function(pteron_link_json target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:pteron_nlohmann_json>)
endfunction()
