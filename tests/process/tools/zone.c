/* Right: each rank's TZ is its own, for localtime(), mktime(), strftime() and the variables that tzset()
 * sets. Climate and weather codes set TZ to UTC for mktime(). */
#define _GNU_SOURCE
#include <locale.h>
#include <stdlib.h>
#include <time.h>
#include <wchar.h>

#include "expect.h"

/* Those of the first rank are the C library's own: while another rank's call has the C library at its zone, they are of that zone. */
static void check_variables(int hours, const char* name) {
  expect_text("tzname", tzname[0], name);
  expect_number("timezone", timezone, -hours * 3600);
}

static void check(int hours, const char* name) {
  const time_t begin = 0;
  struct tm broken_down;
  char text[32];
  expect_number("the hour of localtime", localtime(&begin)->tm_hour, hours);
  expect_number("the hour of localtime_r", localtime_r(&begin, &broken_down)->tm_hour, hours);
  expect_number("the seconds before the prime meridian", broken_down.tm_gmtoff, hours * 3600);
  expect_number("mktime", (long)mktime(&broken_down), 0);
  strftime(text, sizeof text, "%H %Z %s", &broken_down);
  char wanted[32];
  snprintf(wanted, sizeof wanted, "%02d %s 0", hours, name);
  expect_text("strftime", text, wanted);
  locale_t locale = newlocale(LC_ALL_MASK, "C", NULL);
  strftime_l(text, sizeof text, "%H %Z %s", &broken_down, locale);
  freelocale(locale);
  expect_text("strftime_l", text, wanted);
  wchar_t wide[32];
  wcsftime(wide, 32, L"%s", &broken_down);
  expect_number("wcsftime", wcscmp(wide, L"0"), 0);
  if (rank != 0) check_variables(hours, name);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  char zone[32], name[8];
  snprintf(name, sizeof name, "ZO%c", 'A' + rank);
  snprintf(zone, sizeof zone, "%s-%d", name, rank);
  setenv("TZ", zone, 1);
  tzset();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) {
    check(rank, name);
    expect_text("TZ", getenv("TZ"), zone);
    if (i % 10 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == ranks - 1) {
    unsetenv("TZ");
    tzset();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != ranks - 1) check(rank, name);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) check_variables(rank, name);
  return end();
}
