# What Windows wants of a library or program besides the code.

# pteron_version_resource(target file description): the version that Explorer and installers show.
function(pteron_version_resource target file description)
  if(NOT WIN32)
    return()
  endif()
  enable_language(RC)
  get_filename_component(extension ${file} LAST_EXT)
  set(type 0x1)  # VFT_APP
  if(extension STREQUAL .dll)
    set(type 0x2)  # VFT_DLL
  endif()
  set(resource ${CMAKE_CURRENT_BINARY_DIR}/${target}_version.rc)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/version.rc.in ${resource} @ONLY)
  target_sources(${target} PRIVATE ${resource})
endfunction()

# pteron_msvc_import_library(target file.def): pteron.lib as MSVC's linker takes it, where MinGW-w64
# builds the library. LLVM's llvm-lib writes what MSVC's own lib.exe would; GNU's dlltool another kind.
function(pteron_msvc_import_library target definitions)
  if(MSVC)
    return()
  endif()
  find_program(PTERON_LLVM_LIB NAMES llvm-lib-19 llvm-lib
    DOC "Makes pteron.lib, the import library for MSVC; Debian's package is llvm-19")
  if(NOT PTERON_LLVM_LIB)
    message(STATUS "Without pteron.lib, the import library for MSVC: there is no llvm-lib (Debian: llvm-19)")
    return()
  endif()
  set(library ${CMAKE_CURRENT_BINARY_DIR}/${target}.lib)
  add_custom_command(OUTPUT ${library} DEPENDS ${definitions} VERBATIM
    COMMAND ${PTERON_LLVM_LIB} /nologo /machine:x64 /def:${definitions} /out:${library})
  add_custom_target(${target}_msvc_import_library DEPENDS ${library})
  add_dependencies(${target} ${target}_msvc_import_library)
  install(FILES ${library} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
endfunction()
