/* Finds an MPI library while it runs, as Python modules and Julia do. at_run_time LIBRARY BEGIN KNOWN ABSENT
   PLUGIN NAME...: opens LIBRARY globally. The text of its version begins with BEGIN; it has the name KNOWN,
   and not ABSENT; opened by each further NAME it is the same one. Then it opens PLUGIN, which names no MPI
   library and gets this one, in several ways. LINKED: the program itself is linked to the standard's, which
   it finds first. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LINKED
#define FIRST "Clump"
#else
#define FIRST begin
#endif

static int failures;

static void check(int holds, const char* what) {
  if (!holds) printf("failed: %s\n", what), ++failures;
}

static void* open_it(const char* name, int flags) {
  void* const library = dlopen(name, RTLD_NOW | flags);
  if (library == NULL) printf("%s\n", dlerror()), exit(1);
  return library;
}

static void check_version(void* symbol, const char* begin, const char* what) {
  char text[8192] = "";
  int length = 0;
  check(symbol != NULL && ((int (*)(char*, int*))symbol)(text, &length) == 0, what);
  check(strncmp(text, begin, strlen(begin)) == 0 && (int)strlen(text) == length, what);
}

int main(int argc, char** argv) {
  const char *begin = argv[2], *known = argv[3], *absent = argv[4], *plugin = argv[5];
  void* const everything = dlopen(NULL, RTLD_NOW);
#ifndef LINKED
  /* NEURON takes what is there for the library of the job, and its ABI for MPICH's. */
  check(dlsym(RTLD_DEFAULT, "MPI_Initialized") == NULL && dlerror() != NULL, "MPI that nothing has opened");
  check(dlsym(RTLD_DEFAULT, "PMPI_Init") == NULL, "PMPI that nothing has opened");
  check(dlsym(RTLD_DEFAULT, "puts") != NULL, "another function");
#endif
  void* const library = open_it(argv[1], RTLD_GLOBAL);
  check_version(dlsym(library, "MPI_Get_library_version"), begin, "version in the library");
  check_version(dlsym(RTLD_DEFAULT, "MPI_Get_library_version"), FIRST, "version by RTLD_DEFAULT");
  check_version(dlsym(everything, "PMPI_Get_library_version"), FIRST, "version by dlopen(NULL)");
  check(dlsym(library, known) != NULL && dlsym(RTLD_DEFAULT, known) != NULL, known);
  check(dlsym(library, absent) == NULL && dlerror() != NULL, absent);
  check(dlsym(RTLD_DEFAULT, absent) == NULL && dlsym(everything, absent) == NULL, absent);
  for (int i = 0; i < 20; ++i)
    check(open("/dev/null", O_RDONLY) >= 0, "open()"); /* numbers that were used to open the library */
  for (int i = 6; i < argc; ++i) {
    void* const again = open_it(argv[i], i % 2 != 0 ? RTLD_GLOBAL : RTLD_LOCAL);
    check(dlsym(again, "MPI_Init") == dlsym(library, "MPI_Init"), argv[i]);
    dlclose(again);
  }
  static const int kFlags[] = {RTLD_LOCAL, RTLD_DEEPBIND, RTLD_GLOBAL};
  for (int i = 0; i < 3; ++i) {
    void* const opened = open_it(plugin, kFlags[i]);
    check(((int (*)(void))dlsym(opened, "run"))() == 0, "plugin");
    /* With RTLD_DEEPBIND it has the C library's dlsym(), whatever is preloaded. */
    if (kFlags[i] != RTLD_DEEPBIND)
      check(((int (*)(void))dlsym(opened, "finds_another"))() == 0, "plugin's dlsym()");
    dlclose(opened);
  }
  ((int (*)(void))dlsym(RTLD_DEFAULT, "MPI_Finalize"))();
  printf("%d failures\n", failures);
  return 0;
}
