# MPI programs of this repository: examples, tests, benchmarks. They see mpi.h and libmpi_abi, and nothing else of ours.

# clump_mpi_program(name SOURCES a.c [LIBRARIES m]): a program built as our mpicc builds one.
function(clump_mpi_program name)
  cmake_parse_arguments(PROGRAM "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${PROGRAM_SOURCES})
  # GCC 14 refuses a call of a function that no header has declared.
  target_compile_options(${name} PRIVATE -Wall -Wextra $<$<COMPILE_LANGUAGE:C>:-Werror=implicit-function-declaration>)
  target_include_directories(${name} PRIVATE "${CMAKE_BINARY_DIR}/include")
  add_dependencies(${name} clump_mpi_h)
  target_link_libraries(${name} PRIVATE mpi_abi ${PROGRAM_LIBRARIES})
  if(CLUMP_SANITIZE)
    target_compile_options(${name} PRIVATE -fsanitize=${CLUMP_SANITIZE} -g)
    target_link_options(${name} PRIVATE -fsanitize=${CLUMP_SANITIZE})
  endif()
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_options(${name} PRIVATE -pie)
endfunction()

# clump_scheduler_tests(name COMMAND ... [WORKING_DIRECTORY dir] [ONE]): like clump_test(NAME name ...), once for each scheduler: the
# second test, name.threads, has the ranks as kernel threads. With ONE there is the first test only, and so there is in the build of a
# sanitizer that knows no fibers, where mpiexec chooses; AddressSanitizer gets along with both. The variable CLUMP_ADDED lists what was
# added, for set_tests_properties().
function(clump_scheduler_tests name)
  cmake_parse_arguments(TEST "ONE" "WORKING_DIRECTORY" "COMMAND" ${ARGN})
  set(added)
  set(choose OFF)
  if(CLUMP_SANITIZE AND NOT "${CLUMP_SANITIZE}" STREQUAL "address")
    set(choose ON)
  endif()
  foreach(scheduler fibers threads)
    set(test ${name})
    if(scheduler STREQUAL threads)
      if(TEST_ONE OR choose)
        continue()
      endif()
      set(test ${name}.threads)
    endif()
    clump_test(NAME ${test} COMMAND ${TEST_COMMAND})
    if(TEST_WORKING_DIRECTORY)
      set_tests_properties(${test} PROPERTIES WORKING_DIRECTORY "${TEST_WORKING_DIRECTORY}")
    endif()
    if(NOT choose)
      set_tests_properties(${test} PROPERTIES ENVIRONMENT CLUMP_SCHEDULER=${scheduler})
    endif()
    list(APPEND added ${test})
  endforeach()
  set(CLUMP_ADDED ${added} PARENT_SCOPE)
endfunction()

# clump_sanitize_nightly(tests...): AddressSanitizer has ranks as kernel threads nightly: ThreadSanitizer has no other ones, and the code for them is a
# small part of what it has as fibers. So it is with fibers in several processes, whose code is that of fibers and that of processes, which it has each time.
function(clump_sanitize_nightly)
  if("${CLUMP_SANITIZE}" STREQUAL "address")
    set(tests ${ARGN})
    list(FILTER tests INCLUDE REGEX "[.](threads|per2)$")
    foreach(test IN LISTS tests)
      set_property(TEST ${test} APPEND PROPERTY LABELS nightly)
    endforeach()
  endif()
endfunction()

# clump_process_tests(name COMMAND ... [WORKING_DIRECTORY dir] [PROCESSES] [PER_TWO]): like clump_test(NAME name ...), once for each way
# to divide a job among processes that is asked for: name.processes has a process for each rank, name.per2 two ranks with images in
# each of several processes. Without a sanitizer, or with AddressSanitizer. The variable CLUMP_ADDED lists what was added.
function(clump_process_tests name)
  cmake_parse_arguments(TEST "PROCESSES;PER_TWO" "WORKING_DIRECTORY" "COMMAND" ${ARGN})
  set(added)
  if(CLUMP_SANITIZE AND NOT "${CLUMP_SANITIZE}" STREQUAL "address")  # ThreadSanitizer sees one process at a time
    set(TEST_PROCESSES OFF)
    set(TEST_PER_TWO OFF)
  endif()
  if(TEST_PROCESSES)
    clump_test(NAME ${name}.processes COMMAND ${TEST_COMMAND})
    set_tests_properties(${name}.processes PROPERTIES ENVIRONMENT CLUMP_RANKS=processes)
    list(APPEND added ${name}.processes)
  endif()
  if(TEST_PER_TWO)
    clump_test(NAME ${name}.per2 COMMAND ${TEST_COMMAND})
    set_tests_properties(${name}.per2 PROPERTIES ENVIRONMENT CLUMP_PER_PROCESS=2)
    list(APPEND added ${name}.per2)
  endif()
  if(added AND TEST_WORKING_DIRECTORY)
    set_tests_properties(${added} PROPERTIES WORKING_DIRECTORY "${TEST_WORKING_DIRECTORY}")
  endif()
  set(CLUMP_ADDED ${added} PARENT_SCOPE)
endfunction()

# clump_cluster_test(name HOSTS h0:4,h1:4 RANKS n COMMAND program args): adds name.cluster, which runs a program on several hosts that
# tests/cluster/hosts.sh makes; where it cannot, the test is skipped.
set(CLUMP_CLUSTER "${CMAKE_BINARY_DIR}/cluster")
function(clump_cluster_test name)
  cmake_parse_arguments(TEST "" "HOSTS;RANKS" "COMMAND" ${ARGN})
  clump_test(NAME ${name} COMMAND "${PROJECT_SOURCE_DIR}/tests/cluster/hosts.sh" run "${CLUMP_CLUSTER}" h0
    env "PRTE_MCA_plm_ssh_agent=${CLUMP_CLUSTER}/agent"
    $<TARGET_FILE:mpiexec> --host ${TEST_HOSTS} -n ${TEST_RANKS} ${TEST_COMMAND})
  set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED cluster SKIP_RETURN_CODE 77)
endfunction()

# clump_mpi_test(name SOURCES a.c RANKS 1 2 7 [ARGS ...] [LIBRARIES m] [TIMEOUT 300] [LABELS soak] [NO_SANITIZER]
#                [ONE_HOST] [HOSTS_NIGHTLY] [UNCHECKED] [CLUSTER_ARGS ...])
# makes a program of the folder's chapter and one test mpi.<chapter>.<name>.<ranks> for each number of ranks, run by our mpiexec. The
# largest number up to 16 is run under both schedulers, as mpi.<chapter>.<name>.<ranks>.threads too, and in a process for each rank
# (.processes); the largest even one from 4 to 8 also with two ranks in each process (.per2).
# The largest number up to four is also run in the sanitizer passes of `./dev test`, with AddressSanitizer in processes as well, unless
# NO_SANITIZER says that it cannot be.
# UNCHECKED: it looks at what --check changes, so a Debug build runs it without.
# ONE_HOST keeps it from the tests on several hosts; CLUSTER_ARGS are its arguments there. HOSTS_NIGHTLY: what it looks at is a rank's own, and
# nothing of it crosses the network but what other programs send, too.
# A test passes when its exit code is 0. Tests that check how a job fails are not for this function.
function(clump_mpi_test name)
  cmake_parse_arguments(TEST "NO_SANITIZER;ONE_HOST;HOSTS_NIGHTLY;UNCHECKED" "TIMEOUT" "SOURCES;RANKS;ARGS;CLUSTER_ARGS;LIBRARIES;LABELS" ${ARGN})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  if(NOT TEST_CLUSTER_ARGS)
    set(TEST_CLUSTER_ARGS ${TEST_ARGS})
  endif()
  get_filename_component(chapter "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  set(program "mpi_${chapter}_${name}")
  clump_mpi_program(${program} SOURCES ${TEST_SOURCES} LIBRARIES ${TEST_LIBRARIES})
  target_include_directories(${program} PRIVATE "${PROJECT_SOURCE_DIR}/tests/mpi")
  if(TARGET mpiexec)
    add_dependencies(${program} mpiexec)
  endif()
  add_dependencies(mpi_tests ${program})

  set(options)
  if(TEST_UNCHECKED)
    set(options -x CLUMP_CHECK=off)
  endif()
  set(sanitized 0)
  set(every_way 0)
  set(in_pairs 0)
  foreach(ranks IN LISTS TEST_RANKS)
    if(ranks LESS_EQUAL 4 AND ranks GREATER sanitized AND NOT TEST_NO_SANITIZER)
      set(sanitized ${ranks})
    endif()
    if(ranks LESS_EQUAL 16 AND ranks GREATER every_way)
      set(every_way ${ranks})
    endif()
    math(EXPR odd "${ranks} % 2")
    if(ranks GREATER_EQUAL 4 AND ranks LESS_EQUAL 8 AND NOT odd AND ranks GREATER in_pairs)
      set(in_pairs ${ranks})
    endif()
  endforeach()
  foreach(ranks IN LISTS TEST_RANKS)
    set(one ONE)
    set(divided)
    if(ranks EQUAL every_way OR (ranks EQUAL sanitized AND "${CLUMP_SANITIZE}" STREQUAL "address"))
      set(one)
      list(APPEND divided PROCESSES)
    endif()
    if(ranks EQUAL in_pairs)
      list(APPEND divided PER_TWO)
    endif()
    set(test mpi.${chapter}.${name}.${ranks})
    set(labels mpi ${TEST_LABELS})
    if(ranks EQUAL sanitized)
      list(APPEND labels sanitize)
    endif()
    set(command COMMAND mpiexec ${options} -n ${ranks} $<TARGET_FILE:${program}> ${TEST_ARGS})
    clump_scheduler_tests(${test} ${one} ${command})
    set(tests ${CLUMP_ADDED})
    clump_process_tests(${test} ${divided} ${command})
    list(APPEND tests ${CLUMP_ADDED})
    set_tests_properties(${tests} PROPERTIES LABELS "${labels}" TIMEOUT ${TEST_TIMEOUT})
    clump_sanitize_nightly(${tests})
    if(ranks EQUAL every_way AND ranks GREATER 1 AND NOT CLUMP_SANITIZE AND NOT TEST_ONE_HOST)
      clump_mpi_cluster_tests(${test})
    endif()
  endforeach()
endfunction()

# Part of clump_mpi_test(): its program on four, three and three unequal hosts, with 16, 15 and 7 ranks; one that is for fewer ranks
# with as many as it is for, on as many hosts as can be.
macro(clump_mpi_cluster_tests test)
  if(every_way GREATER 4)
    clump_cluster_test(${test}.hosts4 HOSTS h0:4,h1:4,h2:4,h3:4 RANKS 16 COMMAND $<TARGET_FILE:${program}> ${TEST_CLUSTER_ARGS})
    clump_cluster_test(${test}.hosts3 HOSTS h0:5,h1:5,h2:5 RANKS 15 COMMAND $<TARGET_FILE:${program}> ${TEST_CLUSTER_ARGS})
    clump_cluster_test(${test}.uneven HOSTS h0:1,h1:2,h2:4 RANKS 7 COMMAND $<TARGET_FILE:${program}> ${TEST_CLUSTER_ARGS})
    set(tests ${test}.hosts4 ${test}.hosts3 ${test}.uneven)
  else()
    clump_cluster_test(${test}.hosts2 HOSTS h0,h1 RANKS ${every_way} COMMAND $<TARGET_FILE:${program}> ${TEST_CLUSTER_ARGS})
    set(tests ${test}.hosts2)
  endif()
  set_tests_properties(${tests} PROPERTIES LABELS cluster TIMEOUT 600)
  if(TEST_HOSTS_NIGHTLY)
    set_property(TEST ${tests} APPEND PROPERTY LABELS nightly)
  endif()
  # What collectives and topologies do depends on the shape; other chapters only need to cross the network, with any.
  if(every_way GREATER 4)
    set_property(TEST ${test}.hosts3 APPEND PROPERTY LABELS nightly)
    if(NOT chapter MATCHES "collectives|topologies")
      set_property(TEST ${test}.hosts4 APPEND PROPERTY LABELS nightly)
    endif()
  endif()
endmacro()

# All programs of clump_mpi_test(): what a sanitizer pass builds.
add_custom_target(mpi_tests)
