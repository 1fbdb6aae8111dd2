/* Opens the libraries that PLUGINS names, one behind the other, and lets each look at MPI's special
   addresses: "l/path" locally, "g/path" globally, "d/path" with RTLD_DEEPBIND, "m/path" by dlmopen(),
   "c/path" also for those that C compares with, "a/path" once before, after which it is closed. As a program
   (MAIN) it has no MPI itself; LINKED: it is linked to such a library, too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int plug(void);
void leave(void);

static void* symbol(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (found == NULL) fprintf(stderr, "%s\n", dlerror());
  return found;
}

static void* last;

int open_all(void) {
  int failures = 0;
  char* list = getenv("PLUGINS") != NULL ? strdup(getenv("PLUGINS")) : NULL;
  for (char* one = list != NULL ? strtok(list, " ") : NULL; one != NULL; one = strtok(NULL, " ")) {
    if (*one == 'a') {
      void* const before = dlopen(one + 1, RTLD_NOW | RTLD_LOCAL);
      if (before != NULL) failures += ((int (*)(void))symbol(before, "plug"))(), dlclose(before);
    }
    const int flags = RTLD_NOW | (*one == 'g' ? RTLD_GLOBAL : *one == 'd' ? RTLD_DEEPBIND : RTLD_LOCAL);
    void* const library = *one == 'm' ? dlmopen(LM_ID_BASE, one + 1, flags) : dlopen(one + 1, flags);
    if (library == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return failures + 1;
    }
    last = library;
    failures += ((int (*)(void))symbol(library, "plug"))();
    if (*one == 'c' && ((int (*)(void))symbol(library, "known_in_c"))() != 0)
      ++failures, printf("not known in C\n");
  }
  free(list);
  return failures;
}

#ifdef MAIN
int main(void) {
  int failures = 0;
#ifdef LINKED
  failures += plug();
#endif
  failures += open_all();
  printf("%d failures\n", failures);
  fflush(stdout);
#ifdef LINKED
  leave();
#else
  ((void (*)(void))symbol(last, "leave"))();
#endif
  return 0;
}
#endif
