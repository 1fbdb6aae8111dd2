/* What programs that open libraries have in common. */
#ifndef CLUMP_TESTS_IMAGE_PLUGINS_PLUGIN_H
#define CLUMP_TESTS_IMAGE_PLUGINS_PLUGIN_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../expect.h"
#include "mpi.h"

/* Opens a library that has to be there. */
static inline void* opened(const char* path, int flags) {
  void* const library = dlopen(path, flags);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  return library;
}

/* Calls a function of a library that returns a number. */
static inline int called(void* library, const char* name) {
  int (*const function)(void) = (int (*)(void))dlsym(library, name);
  return function != NULL ? function() : -1;
}

/* Puts a copy of a file at a path: a new file, renamed, or other bytes in the file that is there. */
static inline void put(const char* from, const char* to, int in_place) {
  char fresh[1100];
  snprintf(fresh, sizeof fresh, in_place ? "%s" : "%s.new", to);
  FILE* const in = fopen(from, "rb");
  FILE* const out = fopen(fresh, in_place ? "r+b" : "wb");
  if (in == NULL || out == NULL) {
    fprintf(stderr, "cannot copy %s to %s: %s\n", from, fresh, strerror(errno));
    exit(2);
  }
  char some[4096];
  for (size_t bytes; (bytes = fread(some, 1, sizeof some, in)) > 0;) fwrite(some, 1, bytes, out);
  fclose(in);
  fclose(out);
  if (!in_place && rename(fresh, to) != 0) exit(2);
}

#endif
