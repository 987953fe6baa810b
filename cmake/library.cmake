# How the shared library is linked and installed.
include(CMakePackageConfigHelpers)
include(windows_files)

# pteron_shared_library(target exports.txt): only the functions listed there are visible outside.
function(pteron_shared_library target exports)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${exports})
  file(STRINGS ${exports} symbols REGEX "^pteron_")
  if(NOT PTERON_ONE_FILE)
    set_target_properties(${target} PROPERTIES SOVERSION 0 VERSION ${PROJECT_VERSION})
  endif()
  if(WIN32)
    # pteron.dll, and its import library libpteron.dll.a (MinGW-w64) or pteron.lib (MSVC).
    set_target_properties(${target} PROPERTIES PREFIX "")
    list(JOIN symbols "\n  " lines)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}.def)
    file(CONFIGURE OUTPUT ${file} CONTENT "LIBRARY ${target}.dll\nEXPORTS\n  ${lines}\n" @ONLY)
    target_sources(${target} PRIVATE ${file})
    pteron_msvc_import_library(${target} ${file})
  elseif(APPLE)
    list(TRANSFORM symbols PREPEND "_")
    list(JOIN symbols "\n" lines)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}.exp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${lines}\n" @ONLY)
    target_link_options(${target} PRIVATE -Wl,-exported_symbols_list,${file} -Wl,-dead_strip)
  else()
    list(JOIN symbols "; " lines)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
    file(CONFIGURE OUTPUT ${file} CONTENT "{ global: ${lines}; local: *; };\n" @ONLY)
    # nodelete: OpenVINO's threads, and compiled models that read our mapped files, outlive a dlclose.
    target_link_options(${target} PRIVATE -Wl,--version-script=${file} -Wl,--gc-sections
      -Wl,-z,nodelete -Wl,-z,relro,-z,now -Wl,-z,noexecstack)
  endif()
  if(file)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${file})
  endif()
endfunction()

# pteron_install_library(target): library, headers, licences and a package for find_package(pteron),
# as the component `library`.
function(pteron_install_library target)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/pteron)
  set(generated ${PROJECT_BINARY_DIR}/package)
  install(TARGETS ${target} EXPORT pteron_targets
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT library
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT library
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/pteron DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT library)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE
    ${PROJECT_SOURCE_DIR}/THIRD-PARTY-NOTICES.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
  install(EXPORT pteron_targets FILE pteron-targets.cmake NAMESPACE pteron:: DESTINATION ${package}
    COMPONENT library)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/pteron-config.cmake.in
    ${generated}/pteron-config.cmake INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_LIBDIR)
  write_basic_package_version_file(${generated}/pteron-config-version.cmake
    COMPATIBILITY SameMajorVersion)
  install(FILES ${generated}/pteron-config.cmake ${generated}/pteron-config-version.cmake
    DESTINATION ${package} COMPONENT library)
endfunction()
