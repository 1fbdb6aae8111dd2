# Runs when something is installed (clump_install_binary). `built` is a library or program of the build tree, `folder` where it is installed. For
# the component `runtime` it removes what only debuggers read from the installed file, and leaves the names of functions, which reports show; for `debug`
# it installs what was removed.
get_filename_component(name "${built}" NAME)
set(symbols "${debug_files}/${name}.debug")
if(NOT EXISTS "${symbols}" OR "${built}" IS_NEWER_THAN "${symbols}")
  file(MAKE_DIRECTORY "${debug_files}")
  execute_process(COMMAND "${objcopy}" --only-keep-debug "${built}" "${symbols}" COMMAND_ERROR_IS_FATAL ANY)
endif()
if(component STREQUAL debug)
  file(INSTALL "${symbols}" DESTINATION "${CMAKE_INSTALL_PREFIX}/${folder}/.debug")
else()
  execute_process(
    COMMAND "${objcopy}" --preserve-dates --strip-debug --remove-section=.gnu_debuglink "--add-gnu-debuglink=${symbols}"
      "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${folder}/${name}"
    COMMAND_ERROR_IS_FATAL ANY)
endif()
