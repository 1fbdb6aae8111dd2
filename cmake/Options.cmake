# clump_options: warnings, sanitizers and the libraries that every layer may use.
add_library(clump_options INTERFACE)
target_compile_options(clump_options INTERFACE
  -Wall -Wextra -Wpointer-arith -Wno-missing-field-initializers -fno-omit-frame-pointer -ftls-model=initial-exec)
target_link_libraries(clump_options INTERFACE fmt::fmt-header-only Threads::Threads)
target_compile_definitions(clump_options INTERFACE _GNU_SOURCE CLUMP_VERSION="${PROJECT_VERSION}")

if(CLUMP_SANITIZE)
  target_compile_options(clump_options INTERFACE -fsanitize=${CLUMP_SANITIZE} -g)
  target_link_options(clump_options INTERFACE -fsanitize=${CLUMP_SANITIZE})
  target_compile_definitions(clump_options INTERFACE CLUMP_SANITIZE=1)
endif()
