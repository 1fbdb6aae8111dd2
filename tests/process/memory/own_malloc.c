/* A program that defines malloc() itself, as codes with an own memory manager or a statically linked
   allocator do (jemalloc's and mimalloc's manuals recommend the latter). Such an allocator looks a block up
   in its own tables; what the C library has allocated from another rank's is not there. Right: strdup() and
   getline() give blocks of this rank's allocator. */
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default) /* as programs are compiled that do not say so */

static _Alignas(16) char room[64 << 20];
static size_t used;

static void* take(size_t bytes, size_t alignment) {
  size_t at;
  for (;;) {
    size_t old = __atomic_load_n(&used, __ATOMIC_RELAXED);
    at = (old + 16 + alignment - 1) / alignment * alignment;
    if (at + bytes > sizeof room) {
      errno = ENOMEM;
      return NULL;
    }
    if (__atomic_compare_exchange_n(&used, &old, at + bytes, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
  }
  memcpy(room + at - 16, &bytes, sizeof bytes);
  return room + at;
}

static int is_mine(const void* block) {
  return (const char*)block > room && (const char*)block < room + sizeof room;
}

void* malloc(size_t bytes) { return take(bytes, 16); }
void* calloc(size_t count, size_t size) { return take(count * size, 16); }
void* memalign(size_t alignment, size_t bytes) { return take(bytes, alignment < 16 ? 16 : alignment); }
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** block, size_t alignment, size_t bytes) {
  *block = memalign(alignment, bytes);
  return *block != NULL ? 0 : ENOMEM;
}
void* realloc(void* block, size_t bytes) {
  void* const moved = malloc(bytes);
  size_t before = 0;
  if (block != NULL) memcpy(&before, (char*)block - 16, sizeof before);
  if (moved != NULL && block != NULL) memcpy(moved, block, before < bytes ? before : bytes);
  return moved;
}
void free(void* block) {
  if (block != NULL && !is_mine(block)) abort();
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int wrong = 0;
  char* const copy = strdup("a word");
  wrong += !is_mine(copy);
  free(copy);
  FILE* const file = fopen("/proc/self/status", "r");
  char* line = NULL;
  size_t bytes = 0;
  while (getline(&line, &bytes, file) > 0) wrong += !is_mine(line);
  free(line);
  fclose(file);
  wrong += used == 0;
  if (wrong != 0) fprintf(stderr, "%d blocks are another allocator's\n", wrong);
  MPI_Finalize();
  return wrong != 0;
}
