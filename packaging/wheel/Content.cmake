# Runs when the wheel is made. `build` is the build tree; `opened` are libraries that Clump opens while a job runs; `objdump` reads what a binary needs.
set(prefix "${CMAKE_INSTALL_PREFIX}")
foreach(component runtime development documentation)
  execute_process(COMMAND "${CMAKE_COMMAND}" --install "${build}" --prefix "${prefix}" --component ${component}
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# A wheel holds no symbolic links. A second copy of the library could come into a process beside the first: the linker gets a text that names it.
file(REMOVE "${prefix}/lib/libmpi_abi.so" "${prefix}/bin/mpirun")
file(WRITE "${prefix}/lib/libmpi_abi.so" "INPUT(libmpi_abi.so.1)\n")
file(WRITE "${prefix}/bin/mpirun" "#!/bin/sh\nexec \"$(dirname \"$(readlink -f \"$0\")\")/mpiexec\" \"$@\"\n")
file(CHMOD "${prefix}/bin/mpirun" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# In lib/clump, where ours look first (INSTALL_RPATH of clump_host).
file(MAKE_DIRECTORY "${prefix}/lib/clump")
foreach(library IN LISTS opened)
  get_filename_component(name "${library}" NAME)
  file(REAL_PATH "${library}" file)
  file(COPY_FILE "${file}" "${prefix}/lib/clump/${name}")
endforeach()

# Licences of all of them, and of what auditwheel will bring: all that is needed but the C library and libz, which it takes for granted.
set(CMAKE_GET_RUNTIME_DEPENDENCIES_TOOL objdump)
set(CMAKE_GET_RUNTIME_DEPENDENCIES_COMMAND "${objdump}")
file(GET_RUNTIME_DEPENDENCIES
  EXECUTABLES "${prefix}/bin/mpiexec" "${prefix}/bin/clump"
  LIBRARIES "${prefix}/lib/libclump_places.so" ${opened}
  RESOLVED_DEPENDENCIES_VAR needed
  POST_EXCLUDE_REGEXES "/(ld-linux|libc\\.|libm\\.|libz\\.|libdl\\.|libpthread\\.|librt\\.|libgcc_s\\.)" "^${prefix}/")
foreach(library IN LISTS opened needed)
  file(REAL_PATH "${library}" file)
  get_filename_component(name "${file}" NAME)
  execute_process(COMMAND dpkg-query -S "*/${name}" OUTPUT_VARIABLE owner OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "[:,\n].*" "" package "${owner}")
  set(licence "/usr/share/doc/${package}/copyright")
  if(NOT EXISTS "${licence}")
    message(FATAL_ERROR "the licence of ${library} is missing: ${licence}")
  endif()
  file(REAL_PATH "${licence}" licence)
  file(COPY_FILE "${licence}" "${prefix}/share/doc/Clump/LICENSE.${package}")
endforeach()
