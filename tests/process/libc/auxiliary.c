// The auxiliary vector that follows the environment of main(), as Go's run-time library reads it. Right: each
// rank finds the same entries as getauxval(), and its own program headers.
#include "check.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

extern char** environ;

int main(int argc, char** argv, char** environment) {
  while (*environment != NULL) ++environment;
  const ElfW(auxv_t)* entry = (const ElfW(auxv_t)*)(environment + 1);
  unsigned long page = 0, headers = 0, count = 0, random = 0;
  int entries = 0;
  for (; entries < 64 && entry->a_type != AT_NULL; ++entry, ++entries) {
    if (entry->a_type == AT_PAGESZ) page = entry->a_un.a_val;
    if (entry->a_type == AT_PHDR) headers = entry->a_un.a_val;
    if (entry->a_type == AT_PHNUM) count = entry->a_un.a_val;
    if (entry->a_type == AT_RANDOM) random = entry->a_un.a_val;
  }
  begin(&argc, &argv);
  check(entries > 5 && entries < 64, "%d entries follow the environment", entries);
  check(page == getauxval(AT_PAGESZ), "the size of a page is %lu", page);
  check(random == getauxval(AT_RANDOM), "the random bytes are elsewhere");
  check(headers == getauxval(AT_PHDR) && count == getauxval(AT_PHNUM), "%lu program headers at %lx", count,
        headers);
  const ElfW(Phdr)* const first = (const ElfW(Phdr)*)headers;
  int has_self = 0;
  for (unsigned long i = 0; first != NULL && i < count; ++i)
    has_self |= first[i].p_type == PT_PHDR && (unsigned long)&environ - headers < 1UL << 30;
  check(has_self, "the program headers are not near the rank's variables");
  return end();
}
