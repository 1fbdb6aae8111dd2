/* What calloc() gives to ranks that are fibers and have one core each is there at once, as far as the system
   has memory for it; where a rank has several cores it comes when it is touched, as ever. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "expect.h"
#include "rank.h"

enum { kLarge = 8 << 20, kSmall = 1000 };

/* Of the pages that lie in a block. */
static size_t pages_present(const void* block, size_t bytes) {
  static unsigned char present[kLarge / 4096];
  const uintptr_t page = (uintptr_t)getpagesize(), first = ((uintptr_t)block + page - 1) / page;
  const size_t pages = ((uintptr_t)block + bytes) / page - first;
  size_t count = 0;
  EXPECT(pages <= sizeof present && mincore((void*)(first * page), pages * page, present) == 0);
  for (size_t i = 0; i < pages; ++i) count += present[i] & 1;
  return count;
}

/* Linux before 5.14 does not. */
static int kernel_makes_pages(void) {
  void* const page = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int makes = madvise(page, 1, MADV_POPULATE_WRITE) == 0;
  munmap(page, 1);
  return makes;
}

int main(void) {
  begin_rank();
  const int wanted = sysconf(_SC_NPROCESSORS_ONLN) == 1 && kernel_makes_pages();
  const size_t page = (size_t)getpagesize();
  errno = 0;
  char* block = calloc(kLarge / 8, 8);
  EXPECT(block != NULL && errno == 0);
  const size_t count = pages_present(block, kLarge);
  EXPECT(wanted ? count >= kLarge / page - 1 : count <= 1);
  size_t wrong = 0;
  for (size_t i = 0; i < kLarge; ++i) wrong += block[i] != 0;
  EXPECT(wrong == 0);
  free(block);

  /* More than there is: nothing is made before it is needed. */
  const size_t huge = (size_t)sysconf(_SC_PHYS_PAGES) * page / 4 * 3;
  char* whole = calloc(huge, 1);
  if (whole != NULL) EXPECT(pages_present(whole + huge / 2, kLarge) == 0 && whole[huge - 1] == 0);
  free(whole);

  char* small = calloc(1, kSmall);
  EXPECT(small != NULL && small[kSmall - 1] == 0);
  free(small);
  errno = 0;
  volatile size_t too_many = SIZE_MAX / 4;
  EXPECT(calloc(too_many, 8) == NULL && errno == ENOMEM);
  MPI_Finalize();
  return failures;
}
