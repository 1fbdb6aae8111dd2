// Memory at an address of the program's choice. "own": a rank reserves memory and maps inside of that, as
// loaders and ring buffers do; right in all modes. "fixed", "noreplace", "broadcast": all ranks name the same
// address. Right: each has its own memory there, or the job ends with an error.
#include "check.h"

#include <sys/mman.h>

enum { kBytes = 1 << 20, kPage = 65536 };

static char* map(void* wanted, int protection, int flags) {
  return mmap(wanted, kBytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void use(char* memory) {
  check(memory != MAP_FAILED, "mmap: %s", strerror(errno));
  if (memory == MAP_FAILED) return;
  memset(memory, rank + 1, kBytes);
  step();
  int wrong = 0;
  for (int i = 0; i < kBytes; ++i) wrong += memory[i] != rank + 1;
  check(wrong == 0, "%d bytes are another rank's", wrong);
}

static void inside_own(void) {
  for (int round = 0; round < 20; ++round) {
    char* const all = map(NULL, PROT_NONE, MAP_NORESERVE);
    char* const part = mmap(all + kPage, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    check(part == all + kPage, "inside of what is mapped: %s", strerror(errno));
    part[0] = 1;
    step();
    munmap(all + kPage, kPage);
    char* const again =
        mmap(all + kPage, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    check(again == all + kPage || errno == EEXIST, "where it was: %s", strerror(errno));
    char* const moved = mremap(all + 2 * kPage, kPage, 2 * kPage, MREMAP_MAYMOVE);
    check(moved != MAP_FAILED, "mremap: %s", strerror(errno));
    munmap(moved, 2 * kPage);
    munmap(all, kBytes);
  }
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  const char* const how = argv[1];
  char* address = (char*)0x300000000000;
  if (strcmp(how, "own") == 0) {
    inside_own();
  } else if (strcmp(how, "fixed") == 0) {
    use(map(address, PROT_READ | PROT_WRITE, MAP_FIXED));
  } else if (strcmp(how, "noreplace") == 0) {
    use(map(address, PROT_READ | PROT_WRITE, MAP_FIXED_NOREPLACE));
  } else {
    if (rank == 0) address = map(NULL, PROT_READ | PROT_WRITE, 0);
    MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD);
    use(rank == 0 ? address : map(address, PROT_READ | PROT_WRITE, MAP_FIXED));
  }
  return end();
}
