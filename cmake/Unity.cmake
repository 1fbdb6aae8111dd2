# Files that are compiled together: most of what the compiler does for a small file is to read the headers of the layers below it, so the files of one
# folder are one translation unit (docs/decisions/051). With CLUMP_UNITY=OFF, as in the presets dev and aarch64, each is one of its own.
#
# The names in anonymous namespaces have to differ within a group. What a file includes, it still includes itself: the builds without groups look.
option(CLUMP_UNITY "Compile the files of a folder as one" ON)

# clump_unity(target): the C++ files of `target` are compiled by folder. Files with options of their own, and targets with one file
# a folder, are compiled file by file.
function(clump_unity target)
  if(NOT CLUMP_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(groups)
  foreach(source IN LISTS sources)
    get_property(group SOURCE "${source}" PROPERTY UNITY_GROUP)
    if(NOT group AND source MATCHES "[.]cc$")
      cmake_path(GET source PARENT_PATH folder)
      string(MAKE_C_IDENTIFIER "folder_${folder}" group)
      set_property(SOURCE "${source}" PROPERTY UNITY_GROUP "${group}")
    endif()
    list(APPEND groups "${group}")
  endforeach()
  list(LENGTH groups files)
  list(REMOVE_DUPLICATES groups)
  list(LENGTH groups units)
  if(files EQUAL units)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# clump_unity_group(name file...): files of this folder that are compiled as one, in place of all of the folder.
function(clump_unity_group name)
  set_property(SOURCE ${ARGN} PROPERTY UNITY_GROUP "${name}")
endfunction()
