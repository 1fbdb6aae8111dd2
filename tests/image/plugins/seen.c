/* seen PLUGIN: what unwinders, debuggers and other users of <link.h> see of a library that each rank has for
 * itself. */
#define _GNU_SOURCE
#include "plugin.h"

#include <link.h>
#include <search.h>

struct Seen {
  unsigned long long adds;
  unsigned long long subs;
  int objects;
  const char* plugin; /* its path */
  ElfW(Addr) base;    /* of the plugin; 0: it is not there */
};

static int see(struct dl_phdr_info* info, size_t size, void* argument) {
  struct Seen* const seen = argument;
  (void)size;
  seen->adds = info->dlpi_adds;
  seen->subs = info->dlpi_subs;
  ++seen->objects;
  if (strcmp(info->dlpi_name, seen->plugin) == 0) seen->base = info->dlpi_addr;
  return 0;
}

static struct Seen look(const char* plugin) {
  struct Seen seen = {.plugin = plugin};
  dl_iterate_phdr(see, &seen);
  return seen;
}

/* An unwinder keeps what it has found until one of the counts changes. */
static void open_and_close(const char* path) {
  const struct Seen before = look(path);
  void* const library = opened(path, RTLD_NOW);
  const struct Seen during = look(path);
  EXPECT(during.objects == before.objects + 1);
  EXPECT(during.adds > before.adds);
  EXPECT(before.base == 0 && during.base != 0);

  void* const function = dlsym(library, "count");
  Dl_info info;
  struct link_map* map = NULL;
  EXPECT(dladdr1(function, &info, (void**)&map, RTLD_DL_LINKMAP) != 0);
  EXPECT(strcmp(info.dli_fname, path) == 0 && info.dli_fbase == (void*)during.base);
  EXPECT(map != NULL && map->l_addr == during.base && strcmp(map->l_name, path) == 0);
  const ElfW(Sym)* symbol = NULL;
  EXPECT(dladdr1(function, &info, (void**)&symbol, RTLD_DL_SYMENT) != 0);
  EXPECT(symbol != NULL && (char*)during.base + symbol->st_value == (char*)function);
  struct link_map* same = NULL;
  EXPECT(dlinfo(library, RTLD_DI_LINKMAP, &same) == 0 && same->l_addr == during.base &&
         strcmp(same->l_name, path) == 0);
  /* A program that walks from it sees libraries of its own, and comes to an end. */
  for (const struct link_map* one = same; one != NULL; one = one->l_next)
    EXPECT(one->l_name != NULL && strncmp(one->l_name, "/proc/self/fd/", 14) != 0);
  char folder[4096];
  EXPECT(dlinfo(library, RTLD_DI_ORIGIN, folder) == 0);
  EXPECT(strncmp(folder, path, strlen(folder)) == 0 && path[strlen(folder)] == '/');

  dlclose(library);
  const struct Seen after = look(path);
  EXPECT(after.objects == before.objects && after.base == 0);
  EXPECT(after.subs > during.subs);
}

/* Meets the other ranks while it looks. */
static int meet(struct dl_phdr_info* info, size_t size, void* argument) {
  (void)info, (void)size, (void)argument;
  MPI_Barrier(MPI_COMM_WORLD);
  return 1;
}

static void* held;

/* Ends with the call, so that this returns to the C library. */
__attribute__((optimize("O2"))) static int close_held(const void* key, const void* element) {
  (void)key, (void)element;
  return dlclose(held);
}

/* Whether a library is closed by a function that the C library calls. */
static int is_closed_from_outside(const char* path) {
  size_t count = 1;
  char element = 0;
  held = opened(path, RTLD_NOW);
  return lfind(&element, &element, &count, 1, close_held) != NULL &&
         dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL;
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 2) return 2;
  char path[4096];
  if (realpath(argv[1], path) == NULL) return 2;
  for (int i = 0; i < 2; ++i) {
    open_and_close(path);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT(dl_iterate_phdr(meet, NULL) == 1);
  EXPECT(is_closed_from_outside(path));

  void* const library = dlmopen(LM_ID_BASE, path, RTLD_NOW);
  EXPECT(library != NULL);
  if (library != NULL) {
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(called(library, "count") == 1);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(called(library, "count") == 2);
    dlclose(library);
  }
  MPI_Finalize();
  return failures != 0;
}
