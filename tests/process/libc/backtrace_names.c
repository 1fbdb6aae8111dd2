// What crash handlers and collectors ask of the C library: names in a backtrace, and where the program headers
// are (AT_PHDR). Right: both are about the rank's own program.
#include "check.h"

#include <elf.h>
#include <execinfo.h>
#include <sys/auxv.h>

extern const char __ehdr_start;

__attribute__((noinline)) void function_with_a_name(void** places, int* count) { *count = backtrace(places, 16); }

int main(int argc, char** argv) {
  begin(&argc, &argv);
  void* places[16];
  int count = 0, found = 0;
  function_with_a_name(places, &count);
  char** const texts = backtrace_symbols(places, count);
  for (int i = 0; i < count; ++i) {
    char address[32];
    snprintf(address, sizeof address, "[%p]", places[i]);
    check(strstr(texts[i], address) != NULL, "%s has no %s", texts[i], address);
    if (strstr(texts[i], "backtrace_names(") != NULL) ++found;
  }
  check(found >= 2, "%d frames of %d are said to be in the program: %s", found, count, count > 0 ? texts[0] : "");
  free(texts);
  const Elf64_Ehdr* const header = (const Elf64_Ehdr*)(const void*)&__ehdr_start;
  check(getauxval(AT_PHDR) == (unsigned long)&__ehdr_start + header->e_phoff, "AT_PHDR is %lx, the program at %p",
        getauxval(AT_PHDR), (const void*)&__ehdr_start);
  return end();
}
