# clump_test(NAME name COMMAND command [arg ...]): add_test() for all tests of this project. The command is run by tests/run/measured.c, which writes the processor
# time of the test into core-seconds/NAME of the build tree; `./dev test` adds these up by label. A test for another machine is run by its emulator and
# is not measured.
#
# Which set a test belongs to stands in tests/run/sets.csv. What a test needs of the build stands in its command, or in its property REQUIRED_FILES:
# `./dev test` builds that for the tests that it runs, and no more.
function(clump_test)
  cmake_parse_arguments(PARSE_ARGV 0 TEST "" "NAME;WORKING_DIRECTORY" "COMMAND")
  if(TEST_WORKING_DIRECTORY)
    set(where WORKING_DIRECTORY "${TEST_WORKING_DIRECTORY}")
  endif()
  if(CMAKE_CROSSCOMPILING)
    add_test(NAME ${TEST_NAME} COMMAND ${TEST_COMMAND} ${where})
    return()
  endif()
  set(words)
  foreach(word IN LISTS TEST_COMMAND)
    if(word STREQUAL "")
      message(FATAL_ERROR "the command of the test ${TEST_NAME} has an empty word: CMake would drop it")
    endif()
    if(NOT words AND TARGET "${word}")
      set(word $<TARGET_FILE:${word}>)
    endif()
    string(REPLACE ";" "\\;" word "${word}")
    list(APPEND words "${word}")
  endforeach()
  add_test(NAME ${TEST_NAME} COMMAND clump_measured "${CMAKE_BINARY_DIR}/core-seconds/${TEST_NAME}" ${words} ${where})
endfunction()

# clump_needs(TESTS test ... [TARGETS target ...] [FILES file ...]): for tests that start programs which their command does not show.
function(clump_needs)
  cmake_parse_arguments(NEEDS "" "" "TESTS;TARGETS;FILES" ${ARGN})
  list(TRANSFORM NEEDS_TARGETS PREPEND "$<TARGET_FILE:")
  list(TRANSFORM NEEDS_TARGETS APPEND ">")
  set_property(TEST ${NEEDS_TESTS} APPEND PROPERTY REQUIRED_FILES ${NEEDS_TARGETS} ${NEEDS_FILES})
endfunction()
