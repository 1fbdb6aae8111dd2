# Headers that nearly every C++ file includes, parsed once for all of them: half of the time that a file takes to compile is theirs.
# GCC takes the result for files with other definitions, but not for position-independent code and other code alike. Files with another
# level of optimisation go without.
# A header must still include what it needs: the test layering.headers finds what these hide.
set(CLUMP_PRECOMPILED
  <algorithm> <array> <atomic> <bit> <chrono> <condition_variable> <cstddef> <cstdint> <cstdlib> <cstring> <deque> <functional> <limits> <map>
  <memory> <memory_resource> <mutex> <numeric> <optional> <set> <shared_mutex> <span> <string> <string_view> <thread> <unordered_map> <utility>
  <vector> <fmt/format.h>)
option(CLUMP_PRECOMPILE "Parse common headers once" ON)

# The C library's headers say of many arguments that they are not null. Programs pass null all the same, and get EFAULT: where Clump stands in for
# these functions, compilers must not leave out what looks for it. For all that is parsed with the same headers.
set(CLUMP_NULL_IS_PASSED "-D__nonnull(arguments)=")

set(empty "${CMAKE_BINARY_DIR}/precompiled.cc")
file(CONFIGURE OUTPUT "${empty}" CONTENT "")
set(kinds host program)
if(CLUMP_SANITIZE)
  list(APPEND kinds library)
endif()
if(CLUMP_TESTS)
  list(APPEND kinds test)
endif()
foreach(kind IN LISTS kinds)
  set(target clump_precompiled_${kind})
  add_library(${target} OBJECT EXCLUDE_FROM_ALL "${empty}")
  target_link_libraries(${target} PRIVATE clump_options)
  target_precompile_headers(${target} PRIVATE ${CLUMP_PRECOMPILED})
endforeach()
set_target_properties(clump_precompiled_host PROPERTIES POSITION_INDEPENDENT_CODE ON CLUMP_NOT_SANITIZED ON)
target_compile_options(clump_precompiled_host PRIVATE ${CLUMP_NULL_IS_PASSED})
if(CLUMP_SANITIZE)
  target_compile_options(clump_precompiled_library PRIVATE ${CLUMP_NULL_IS_PASSED})
  set_target_properties(clump_precompiled_library PROPERTIES POSITION_INDEPENDENT_CODE ON)
else()
  # One file: GCC never writes the same bytes twice, and ccache takes two of one content for one.
  add_library(clump_precompiled_library ALIAS clump_precompiled_host)
endif()
if(CLUMP_SANITIZE AND NOT CLUMP_SANITIZE_PROGRAMS)  # see clump_precompile()
  set_target_properties(clump_precompiled_program PROPERTIES CLUMP_NOT_SANITIZED ON)
endif()
target_precompile_headers(clump_precompiled_program PRIVATE <fstream>)
# Unit tests run for milliseconds, mpiexec and clump wait for others: -O1 takes two thirds of the time to compile.
set(CLUMP_BRIEF_OPTIONS $<$<CONFIG:RelWithDebInfo>:-O1>)
target_compile_options(clump_precompiled_program PRIVATE ${CLUMP_BRIEF_OPTIONS})
if(CLUMP_TESTS)
  target_compile_options(clump_precompiled_test PRIVATE ${CLUMP_BRIEF_OPTIONS})
  target_link_libraries(clump_precompiled_test PRIVATE GTest::gtest)
  target_precompile_headers(clump_precompiled_test PRIVATE <gtest/gtest.h>)
endif()

# clump_precompile(target library|host|program|test): its C++ files find the headers parsed. `host`: a library that is not sanitized.
# Programs (mpiexec, clump) are sanitized if CLUMP_SANITIZE_PROGRAMS says so. ThreadSanitizer has nothing to see in them: mpiexec has a second
# thread only for records of other hosts.
function(clump_precompile target kind)
  if(kind STREQUAL program AND CLUMP_SANITIZE AND NOT CLUMP_SANITIZE_PROGRAMS)
    set_target_properties(${target} PROPERTIES CLUMP_NOT_SANITIZED ON)
  endif()
  if(kind MATCHES "^(test|program)$")
    target_compile_options(${target} PRIVATE ${CLUMP_BRIEF_OPTIONS})
  endif()
  if(kind MATCHES "^(host|library)$")
    target_compile_options(${target} PRIVATE ${CLUMP_NULL_IS_PASSED})
  endif()
  if(NOT CLUMP_PRECOMPILE)
    return()
  endif()
  set(precompiled clump_precompiled_${kind})
  get_target_property(other ${precompiled} ALIASED_TARGET)
  if(other)
    set(precompiled ${other})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${precompiled})
  # ccache wants to know what goes in.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()
