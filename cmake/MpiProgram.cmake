# MPI programs of this repository: examples, tests, benchmarks. They see mpi.h and libmpi_abi, and nothing else of ours.

# clump_mpi_program(name SOURCES a.c [LIBRARIES m]): a program built as our mpicc builds one.
function(clump_mpi_program name)
  cmake_parse_arguments(PROGRAM "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${PROGRAM_SOURCES})
  target_compile_options(${name} PRIVATE -Wall -Wextra)
  target_link_libraries(${name} PRIVATE mpi_abi ${PROGRAM_LIBRARIES})
  if(CLUMP_SANITIZE)
    target_compile_options(${name} PRIVATE -fsanitize=${CLUMP_SANITIZE} -g)
    target_link_options(${name} PRIVATE -fsanitize=${CLUMP_SANITIZE})
  endif()
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_options(${name} PRIVATE -pie)
endfunction()

# clump_mpi_test(name SOURCES a.c RANKS 1 2 7 [ARGS ...] [LIBRARIES m] [TIMEOUT 60] [LABELS soak] [NO_SANITIZER])
# makes a program of the folder's chapter and one test mpi.<chapter>.<name>.<ranks> for each number of ranks, run by our mpiexec.
# The largest number up to four is also run in the sanitizer passes of `./dev test`, unless NO_SANITIZER says that it cannot be.
# A test passes when its exit code is 0. Tests that check how a job fails are not for this function.
function(clump_mpi_test name)
  cmake_parse_arguments(TEST "NO_SANITIZER" "TIMEOUT" "SOURCES;RANKS;ARGS;LIBRARIES;LABELS" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 60)
  endif()
  get_filename_component(chapter "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  set(program "mpi_${chapter}_${name}")
  clump_mpi_program(${program} SOURCES ${TEST_SOURCES} LIBRARIES ${TEST_LIBRARIES})
  target_include_directories(${program} PRIVATE "${PROJECT_SOURCE_DIR}/tests/mpi")
  if(TARGET mpiexec)
    add_dependencies(${program} mpiexec)
  endif()
  add_dependencies(mpi_tests ${program})

  set(sanitized 0)
  foreach(ranks IN LISTS TEST_RANKS)
    if(ranks LESS_EQUAL 4 AND ranks GREATER sanitized AND NOT TEST_NO_SANITIZER)
      set(sanitized ${ranks})
    endif()
  endforeach()
  foreach(ranks IN LISTS TEST_RANKS)
    set(test "mpi.${chapter}.${name}.${ranks}")
    add_test(NAME ${test} COMMAND mpiexec -n ${ranks} $<TARGET_FILE:${program}> ${TEST_ARGS})
    set(labels mpi ${TEST_LABELS})
    if(ranks EQUAL sanitized)
      list(APPEND labels sanitize)
    endif()
    set_tests_properties(${test} PROPERTIES LABELS "${labels}" TIMEOUT ${TEST_TIMEOUT})
  endforeach()
endfunction()

# All programs of clump_mpi_test(): what a sanitizer pass builds.
add_custom_target(mpi_tests)
