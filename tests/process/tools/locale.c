/* Right: setlocale() in one rank changes nothing for the others, and for this rank all that it changes in a
 * process: the string that it returns, MB_CUR_MAX, the threads that the rank makes; the rank's locale looks
 * like the process's. Programs call setlocale(LC_ALL, "") at their begin, and some libraries change to "C"
 * and back around their output. */
#define _GNU_SOURCE
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>

#include "expect.h"

static void* most_bytes(void* argument) {
  *(long*)argument = (long)MB_CUR_MAX;
  return NULL;
}

int main(int argc, char** argv) {
  setenv("LC_ALL", "C.UTF-8", 1);
  begin(&argc, &argv);
  const int even = rank % 2 == 0;
  const long most = even ? 6 : 1;
  const char* const name = even ? "C.UTF-8" : "C";
  expect_text("the locale at the begin", setlocale(LC_ALL, NULL), "C");
  if (even) expect_text("what setlocale returns", setlocale(LC_ALL, ""), name);
  expect_number("setlocale of what is not there", setlocale(LC_ALL, "xx_YY.nothing") == NULL, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_text("the locale", setlocale(LC_ALL, NULL), name);
  expect_number("MB_CUR_MAX", (long)MB_CUR_MAX, most);
  MPI_Barrier(MPI_COMM_WORLD);
  long of_thread = 0;
  pthread_t thread;
  pthread_create(&thread, NULL, most_bytes, &of_thread);
  pthread_join(thread, NULL);
  expect_number("MB_CUR_MAX of a thread", of_thread, most);

  expect_number("the locale is the process's", uselocale((locale_t)0) == LC_GLOBAL_LOCALE, 1);
  const locale_t own = newlocale(LC_ALL_MASK, even ? "C" : "C.UTF-8", (locale_t)0);
  uselocale(own);
  expect_number("MB_CUR_MAX with a locale of the thread", (long)MB_CUR_MAX, even ? 1 : 6);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_number("uselocale returns it", uselocale(LC_GLOBAL_LOCALE) == own, 1);
  expect_number("MB_CUR_MAX afterwards", (long)MB_CUR_MAX, most);

  setlocale(LC_ALL, "C");
  setlocale(LC_CTYPE, "C.UTF-8");
  MPI_Barrier(MPI_COMM_WORLD);
  expect_text("a category", setlocale(LC_CTYPE, NULL), "C.UTF-8");
  expect_text("another one", setlocale(LC_NUMERIC, NULL), "C");
  char all[512];
  snprintf(all, sizeof all, "%s", setlocale(LC_ALL, NULL));
  expect_number("all of them begin with", strncmp(all, "LC_CTYPE=C.UTF-8;LC_NUMERIC=C;", 30), 0);
  setlocale(LC_ALL, "C");
  expect_text("all of them again", setlocale(LC_ALL, all), all);
  expect_number("MB_CUR_MAX again", (long)MB_CUR_MAX, 6);
  expect_text("the decimal point", localeconv()->decimal_point, ".");
  return end();
}
