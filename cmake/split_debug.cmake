# pteron_split_debug(target): with PTERON_SPLIT_DEBUG, moves what only debuggers read into
# <file>.debug, which is installed as the component `debug`; a debugger finds it beside the file.
function(pteron_split_debug target destination)
  if(NOT PTERON_SPLIT_DEBUG OR MSVC)
    return()
  endif()
  set(file $<TARGET_FILE:${target}>)
  add_custom_command(TARGET ${target} POST_BUILD VERBATIM
    COMMAND ${CMAKE_OBJCOPY} --only-keep-debug ${file} ${file}.debug
    COMMAND ${CMAKE_STRIP} --strip-unneeded ${file}
    COMMAND ${CMAKE_OBJCOPY} --add-gnu-debuglink=${file}.debug ${file})
  install(FILES ${file}.debug DESTINATION ${destination} COMPONENT debug)
endfunction()
