# What is installed, and how. Components: `runtime` (libraries, mpiexec, clump), `development` (mpi.h, compiler wrappers, files for build tools),
# `documentation` (manual pages, completion, licences), and `debug`, which is installed only if it is named: what gdb needs to show lines
# of Clump's own code. All places are relative to the prefix, so the tree can be moved.
set(CLUMP_DEBUG_FILES "${CMAKE_BINARY_DIR}/debug")

# clump_run_path(target folder...): where ld.so looks for the libraries that the target needs, in the build tree as where it is installed. Otherwise CMake gives a
# target of the build tree another run path than the installed one, with an empty element at its end so that it can be told from other texts: ld.so takes that
# for the working folder.
function(clump_run_path target)
  set(folders ${ARGN})
  list(REMOVE_DUPLICATES folders)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${folders}" BUILD_WITH_INSTALL_RPATH ON)
endfunction()

# clump_install_binary(target [folder]): a library or program without lines and types; those are in folder/.debug/NAME.debug, where gdb and libdw look for
# them by the link that the file holds.
function(clump_install_binary target)
  get_target_property(type ${target} TYPE)
  set(folder "${CMAKE_INSTALL_LIBDIR}")
  if(type STREQUAL EXECUTABLE)
    set(folder "${CMAKE_INSTALL_BINDIR}")
  endif()
  set(namelink NAMELINK_COMPONENT development)
  if(ARGC GREATER 1)  # nobody links to what has a folder of its own
    set(folder "${ARGV1}")
    set(namelink NAMELINK_SKIP)
  endif()
  install(TARGETS ${target}
    RUNTIME DESTINATION "${folder}" COMPONENT runtime
    LIBRARY DESTINATION "${folder}" COMPONENT runtime ${namelink})
  foreach(component runtime debug)
    set(excluded)
    if(component STREQUAL debug)
      set(excluded EXCLUDE_FROM_ALL)
    endif()
    install(CODE "
set(built \"$<TARGET_FILE:${target}>\")
set(folder \"${folder}\")
set(component ${component})
set(debug_files \"${CLUMP_DEBUG_FILES}\")
set(objcopy \"${CMAKE_OBJCOPY}\")
include(\"${PROJECT_SOURCE_DIR}/cmake/SplitDebug.cmake\")" COMPONENT ${component} ${excluded})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY CLUMP_INSTALLED ${target})
endfunction()

# clump_install_target(): the target `installed`, which builds all that is installed and no test.
function(clump_install_target)
  get_property(targets GLOBAL PROPERTY CLUMP_INSTALLED)
  add_custom_target(installed DEPENDS ${targets})
endfunction()
