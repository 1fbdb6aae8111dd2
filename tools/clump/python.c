/* clump-python: Python for ranks that share a process. Interpreters as they are installed are often linked to
 * a fixed address, and to no MPI library. This program can be anywhere, and each rank opens a copy of its own
 * of the interpreter's library. Started by mpiexec (tools/common/python.h), with the path of the interpreter
 * as its name, by which Python finds its modules, and those of a virtual environment. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const char* const path = getenv("CLUMP_PYTHON_LIBRARY");
  if (path == NULL) {
    fprintf(stderr,
            "clump-python: mpiexec --ranks fibers starts it: mpiexec --ranks fibers -n 2 python3 ...\n");
    return 2;
  }
  /* Modules in C name functions of the interpreter, and not its library. */
  void* const library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  int (*const run)(int, char**) =
      library != NULL ? (int (*)(int, char**))dlsym(library, "Py_BytesMain") : NULL;
  if (run == NULL) {
    fprintf(stderr, "clump-python: %s\n", dlerror());
    return 2;
  }
  unsetenv("CLUMP_PYTHON_LIBRARY");
  return run(argc, argv);
}
