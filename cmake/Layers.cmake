# Layers: one target per folder of src/. The headers of a layer can be included only by layers that name it (directly or through
# another layer), because each layer has an include directory of its own: a link farm in the build tree.
#
#   clump_layer(core SOURCES comm.cc ... DEPENDS fiber net)
#
# makes  clump_core_headers  (what others may include, with all that it may include)  and  clump_core  (its object code).
# ALONE: its files are compiled one by one (cmake/Unity.cmake).
# Object code is put into a shared library or a test by naming it:  target_link_libraries(x PRIVATE clump_core clump_base).

set(CLUMP_LAYER_LINKS "${CMAKE_BINARY_DIR}/layers")

function(clump_layer name)
  cmake_parse_arguments(LAYER "ALONE" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  file(MAKE_DIRECTORY "${CLUMP_LAYER_LINKS}/${name}")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/src/${name}" "${CLUMP_LAYER_LINKS}/${name}/${name}" SYMBOLIC)

  add_library(clump_${name}_headers INTERFACE)
  target_include_directories(clump_${name}_headers INTERFACE "${CLUMP_LAYER_LINKS}/${name}")
  foreach(below IN LISTS LAYER_DEPENDS)
    target_link_libraries(clump_${name}_headers INTERFACE clump_${below}_headers)
  endforeach()
  target_link_libraries(clump_${name}_headers INTERFACE clump_options ${LAYER_LIBRARIES})

  if(LAYER_SOURCES)
    add_library(clump_${name} OBJECT ${LAYER_SOURCES})
    target_link_libraries(clump_${name} PUBLIC clump_${name}_headers)
    set_target_properties(clump_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    clump_precompile(clump_${name} library)
    if(NOT LAYER_ALONE)
      clump_unity(clump_${name})
    endif()
  endif()
endfunction()

# clump_unit_test(name SOURCES a_test.cc LAYERS base datatype): a GoogleTest program over the object code of some layers.
function(clump_unit_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LAYERS;LIBRARIES" ${ARGN})
  if(NOT CLUMP_TESTS)
    return()
  endif()
  add_executable(${name} ${TEST_SOURCES})
  foreach(layer IN LISTS TEST_LAYERS)
    target_link_libraries(${name} PRIVATE clump_${layer})
  endforeach()
  target_link_libraries(${name} PRIVATE ${TEST_LIBRARIES} GTest::gtest_main Threads::Threads)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")  # seed.h
  # The layers' objects carry what link-time optimisation needs, too; a test takes the code that is there.
  target_link_options(${name} PRIVATE -fno-lto)
  clump_precompile(${name} test)
  clump_unity(${name})
  clump_test(NAME unit.${name} COMMAND ${name})
endfunction()
