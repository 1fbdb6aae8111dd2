// A program that runs already, with LD_BIND_NOW set to nothing, opens the MPI library: ld.so binds the calls
// of a library that it has opened before, in that library's scope.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

const char* gnu_get_libc_version(void) { return "the program's"; }

int main(int argc, char** argv) {
  void* const plugin = argc == 3 ? dlopen(argv[1], RTLD_LAZY | RTLD_DEEPBIND) : NULL;
  if (plugin == NULL || dlopen(argv[2], RTLD_NOW) == NULL) return puts(dlerror()), 1;
  const char* (*version)(void) = (const char* (*)(void))dlsym(plugin, "version_of_c_library");
  return version == NULL || strcmp(version(), gnu_get_libc_version()) == 0;
}
