# clump_options: warnings, sanitizers and the libraries that every layer may use.
add_library(clump_options INTERFACE)
target_compile_options(clump_options INTERFACE
  -Wall -Wextra -Wpointer-arith -Wno-missing-field-initializers -fno-omit-frame-pointer -ftls-model=initial-exec)
# Clang tells of each loop that it would not vectorise.
target_compile_options(clump_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)
target_link_libraries(clump_options INTERFACE Threads::Threads)
# {fmt} is compiled into clump_base (src/base/format.cc says why), so only its headers are taken from the system.
target_include_directories(clump_options SYSTEM INTERFACE
  $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(clump_options INTERFACE _GNU_SOURCE CLUMP_VERSION="${PROJECT_VERSION}")
# Debug builds compare what the ranks call, if nobody says otherwise (mpiexec --check, CLUMP_CHECK).
target_compile_definitions(clump_options INTERFACE $<$<CONFIG:Debug>:CLUMP_CHECKS>)

# Lines and functions, which reports and gdb show; a Debug build has variables and types, too, which take a third of the time to compile and
# most of the size.
target_compile_options(clump_options INTERFACE $<$<CONFIG:RelWithDebInfo>:-g1>)

# What a sanitizer does not look at is compiled with the options of the release build: ccache has it from there.
if(CLUMP_SANITIZE)
  set(sanitized $<NOT:$<BOOL:$<TARGET_PROPERTY:CLUMP_NOT_SANITIZED>>>)
  target_compile_options(clump_options INTERFACE
    $<${sanitized}:-fsanitize=${CLUMP_SANITIZE}> $<${sanitized}:-O1> $<${sanitized}:-UNDEBUG>)
  target_compile_definitions(clump_options INTERFACE $<${sanitized}:CLUMP_SANITIZE=1>)
  # A library gets along with a program that has the sanitizer's runtime; a program that is not sanitized has none.
  target_link_options(clump_options INTERFACE
    $<$<OR:${sanitized},$<NOT:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>>>:-fsanitize=${CLUMP_SANITIZE}>)
endif()

# clump_self_contained: for the libraries that are loaded into users' programs. They bring their own copy of the C++ library, so
# that the program's is its own, and need no particular version of it. Sanitizers want the one shared copy that they know.
add_library(clump_self_contained INTERFACE)
if(NOT CLUMP_SANITIZE)
  target_link_options(clump_self_contained INTERFACE -static-libstdc++ -Wl,--exclude-libs,ALL)
endif()

# clump_not_sanitized(target): for the code of libclump_host.so, and with it the base layer. It stands in for functions of the C library, so the
# sanitizers' own start-up calls it before it may call them. What it does is still seen through the functions that they intercept.
function(clump_not_sanitized target)
  set_target_properties(${target} PROPERTIES CLUMP_NOT_SANITIZED ON)
  clump_precompile(${target} host)
endfunction()
