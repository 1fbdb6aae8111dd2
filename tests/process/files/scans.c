// Every function that reads stdin without naming it reads the rank's: all forms of scanf() and wscanf() that
// headers choose. Called by the names that the linker sees, so that no header chooses.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <wchar.h>

#include "check.h"

static const char* const kNarrow[] = {"scanf", "__isoc99_scanf", "__isoc23_scanf"};
static const char* const kWide[] = {"wscanf", "__isoc99_wscanf", "__isoc23_wscanf"};
static const char* const kNarrowLists[] = {"vscanf", "__isoc99_vscanf", "__isoc23_vscanf"};
static const char* const kWideLists[] = {"vwscanf", "__isoc99_vwscanf", "__isoc23_vwscanf"};
enum { kForms = 3 };

/// The function of this name. mpiexec has all forms, those of a newer C library too.
static void* function(const char* name) {
  void* const found = dlsym(RTLD_DEFAULT, name);
  check(found != NULL, "no %s", name);
  return found;
}

static int by_list(int (*scan)(const char*, va_list), const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int items = scan(format, arguments);
  va_end(arguments);
  return items;
}
static int by_wide_list(int (*scan)(const wchar_t*, va_list), const wchar_t* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int items = scan(format, arguments);
  va_end(arguments);
  return items;
}

/// The rank's numbers, one a line, for `count` reads, as its stdin.
static void give(const char* name, int count) {
  FILE* const file = fopen(name, "w");
  for (int i = 0; i < count; ++i) fprintf(file, "%d\n", 1000 * check_rank + i);
  fclose(file);
  check(freopen(name, "r", stdin) == stdin, "freopen: %s", strerror(errno));
  unlink(name);
}

static void expect(const char* what, int items, int number, int wanted) {
  check(items == 1 && number == 1000 * check_rank + wanted, "%s: %d items, %d instead of %d", what, items,
        number, 1000 * check_rank + wanted);
}

static void read_narrow(void) {
  int next = 0, number = -1;
  for (int form = 0; form < kForms; ++form) {
    int (*const scan)(const char*, ...) = (int (*)(const char*, ...))function(kNarrow[form]);
    int items = scan("%d", &number);
    expect(kNarrow[form], items, number, next++);
    int (*const list)(const char*, va_list) = (int (*)(const char*, va_list))function(kNarrowLists[form]);
    items = by_list(list, "%d\n", &number);
    expect(kNarrowLists[form], items, number, next++);
    MPI_Barrier(MPI_COMM_WORLD);  // the ranks take turns
  }
  check(getchar() == EOF, "getchar reads on");
}

static void read_wide(void) {
  int next = 0, number = -1;
  for (int form = 0; form < kForms; ++form) {
    int (*const scan)(const wchar_t*, ...) = (int (*)(const wchar_t*, ...))function(kWide[form]);
    int items = scan(L"%d", &number);
    expect(kWide[form], items, number, next++);
    int (*const list)(const wchar_t*, va_list) = (int (*)(const wchar_t*, va_list))function(kWideLists[form]);
    items = by_wide_list(list, L"%d\n", &number);
    expect(kWideLists[form], items, number, next++);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  check(getwchar_unlocked() == WEOF, "getwchar_unlocked reads on");
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  char name[64];
  snprintf(name, sizeof name, "scans.%d.%d", check_job, check_rank);
  give(name, 2 * kForms);
  read_narrow();
  give(name, 2 * kForms);
  read_wide();
  return check_end();
}
