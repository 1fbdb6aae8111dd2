# Headers that nearly every C++ file includes, parsed once for all of them: half of the time that a file takes to compile is theirs.
# GCC takes the result for files with other definitions, but not for position-independent code and other code alike. Files with another
# level of optimisation go without.
# A header must still include what it needs: the test layering.headers compiles each one alone.
set(CLUMP_PRECOMPILED
  <algorithm> <array> <atomic> <chrono> <cstddef> <cstdint> <cstdlib> <cstring> <functional> <memory> <mutex> <optional> <span> <string>
  <string_view> <utility> <vector> <fmt/core.h>)
option(CLUMP_PRECOMPILE "Parse common headers once" ON)

set(empty "${CMAKE_BINARY_DIR}/precompiled.cc")
file(CONFIGURE OUTPUT "${empty}" CONTENT "")
set(kinds library program)
if(CLUMP_TESTS)
  list(APPEND kinds test)
endif()
foreach(kind IN LISTS kinds)
  set(target clump_precompiled_${kind})
  add_library(${target} OBJECT EXCLUDE_FROM_ALL "${empty}")
  target_link_libraries(${target} PRIVATE clump_options)
  target_precompile_headers(${target} PRIVATE ${CLUMP_PRECOMPILED})
endforeach()
set_target_properties(clump_precompiled_library PROPERTIES POSITION_INDEPENDENT_CODE ON)
if(CLUMP_TESTS)
  target_link_libraries(clump_precompiled_test PRIVATE GTest::gtest)
  target_precompile_headers(clump_precompiled_test PRIVATE <gtest/gtest.h>)
endif()

# clump_precompile(target library|program|test): its C++ files find the headers parsed.
function(clump_precompile target kind)
  if(NOT CLUMP_PRECOMPILE)
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM clump_precompiled_${kind})
  # ccache wants to know what goes in.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()
